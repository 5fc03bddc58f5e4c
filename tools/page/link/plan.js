/*
 * The description of a run: policies, memory, workload, seed, τ. A link carries it behind the #, with the build that
 * made it:
 *
 *	#vm=2q,ws&mem=16M&run=thrash 6 4096 2&seed=1&tau=200&build=0123456789ab
 *
 * Every word of a link is checked. An error is reported in a sentence, and the default is used instead.
 */
import { SWAP_MIB } from "../machine/machine.js";

export const LIMITS = { mem: [8, 64], tau: [10, 2000], seed: [0, 2 ** 32 - 1] };
export const SAMPLE_MS = 20;
const LONGEST_RUN = 511; // bytes of run= that the kernel takes

/** The defaults. */
export const usual = () => ({ vm: [...PAIR], mem: 16, run: "thrash 6 4096 2", seed: 1, tau: 200 });

const whole = (text) => (/^\d{1,10}$/.test(text) ? Number(text) : NaN);

function ranged(name, text, unit, number = text) {
  const [least, most] = LIMITS[name];
  const value = whole(number);
  if (value >= least && value <= most) return value;
  throw new Error(`${name}=${text}: it is a whole number from ${least} to ${most}${unit}.`);
}

function policies(text) {
  const names = text.split(",");
  const unknown = names.find((name) => !POLICIES.includes(name));
  if (unknown !== undefined)
    throw new Error(`vm=${text}: there is no policy ${unknown || "without a name"} in this build.`);
  if (names.length > 2) throw new Error(`vm=${text}: one policy, or two with a comma between them.`);
  return names;
}

function command(text) {
  const run = text.trim();
  if (!run) throw new Error("run= is empty: it is the command that the machine runs.");
  if (/[^\x20-\x7e]|"/.test(run)) throw new Error("run= may hold plain characters only, and no double quote.");
  if (run.length > LONGEST_RUN) throw new Error(`run= is too long: ${LONGEST_RUN} characters at most.`);
  return run;
}

const WORDS = {
  vm: policies,
  mem: (text) => ranged("mem", text, ", in MiB, as 16M", text.replace(/M$/, "")),
  run: command,
  seed: (text) => ranged("seed", text, ""),
  tau: (text) => ranged("tau", text, " ms"),
};

/** Returns {plan, complaints} for a link: the part behind the #, or the same words in data-link. */
export function read(text) {
  const plan = usual();
  const complaints = [];
  for (const [name, value] of new URLSearchParams(text.replace(/^#/, ""))) {
    if (name === "build") {
      if (value !== BUILD) complaints.push(otherBuild(value));
      continue;
    }
    if (!Object.hasOwn(WORDS, name)) {
      complaints.push(`The link has a word that this page does not know: ${name}. The page ignores it.`);
      continue;
    }
    try {
      plan[name] = WORDS[name](value);
    } catch (error) {
      complaints.push(`${error.message} The page takes ${name}=${plan[name]}${name === "mem" ? "M" : ""} instead.`);
    }
  }
  return { plan, complaints };
}

const otherBuild = (value) =>
  `The link was made with another build of Tidemark (${value}); this is ${BUILD}. Its runs may differ from the intended ones.`;

/**
 * The link of a plan, with its #. Blanks and commas are kept; characters that would end a link in running text are
 * encoded.
 */
export function write(plan) {
  const words = {
    vm: plan.vm.join(","),
    mem: `${plan.mem}M`,
    run: plan.run,
    seed: plan.seed,
    tau: plan.tau,
    build: BUILD,
  };
  const quoted = (value) => encodeURIComponent(value).replaceAll("%20", "+").replaceAll("%2C", ",");
  return `#${Object.entries(words)
    .map(([name, value]) => `${name}=${quoted(value)}`)
    .join("&")}`;
}

const parameters = (plan) => `sample_ms=${SAMPLE_MS} ws.tau_ms=${plan.tau} wsclock.tau_ms=${plan.tau}`;

/** The kernel's command line for one of the policies, as QEMU would pass it. */
export const commandLine = (plan, vm) =>
  `build/tidemark.elf vm=${vm} mem=${plan.mem}M swap=sim:hdd,size=${SWAP_MIB}M run="${plan.run}" seed=${plan.seed} exact ${parameters(plan)}`;

/** The command that makes the same run in QEMU. */
export const makeLine = (plan, vm) =>
  `make qemu VM=${vm} MEM=${plan.mem}M SWAP=sim:hdd,size=${SWAP_MIB}M RUN="${plan.run}" SEED=${plan.seed} CMDLINE="${parameters(plan)}"`;

/** The memory that a workload needs at once, in KiB, for the two workloads whose arguments give it; 0: not known. */
export function demand(run) {
  const [name, first, second] = run.split(/\s+/);
  if (name === "thrash") return whole(first) * whole(second) || 0;
  return name === "seqscan" || name === "hog" ? whole(first) || 0 : 0;
}

/** Says in a sentence why a plan cannot be run; "" if it can. */
export function impossible(plan) {
  const wanted = demand(plan.run) / 1024;
  const there = plan.mem + SWAP_MIB;
  if (wanted <= there) return "";
  return (
    `${plan.run}: this needs ${Math.ceil(wanted)} MiB, but memory and swap area have ${there} in total. ` +
    "Choose fewer processes, smaller ones, or more memory."
  );
}
