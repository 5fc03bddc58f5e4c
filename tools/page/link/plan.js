/*
 * The description of a run: policies, memory, workload, seed, τ, and kernel parameters of one machine only. A link
 * carries it behind the #, with the build that made it:
 *
 *	#vm=2q,2q&mem=16M&run=thrash 6 4096 2&seed=1&tau=200&second=guard=token&build=0123456789ab
 *
 * Every word of a link is checked. An error is reported in a sentence, and the default is used instead.
 */
import { SWAP_MIB } from "../machine/machine.js";

export const LIMITS = { mem: [8, 64], tau: [10, 2000], seed: [0, 2 ** 32 - 1] };
export const SAMPLE_MS = 20;
const LONGEST_RUN = 511; // bytes of run= that the kernel takes
const LONGEST_OWN = 200; // characters of one machine's parameters
const OWN = /^[a-z0-9_]+(\.[a-z0-9_]+)?=[A-Za-z0-9_.,:-]+$/;
const TAKEN = ["vm", "mem", "swap", "run", "seed", "sample_ms", "telemetry"]; // the page itself sets or needs these
export const SIDES = ["first", "second"];

/**
 * The defaults. At first the arrays of three processes fit into memory; three more processes start when the first three
 * compute, and then the arrays do not fit.
 */
export const usual = () => ({
  vm: [...PAIR],
  mem: 16,
  run: "thrash 3 3584 8 1000 & sleep 0.06; thrash 3 3584 8 1000; wait",
  seed: 1,
  tau: 200,
  first: "",
  second: "",
});

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

/** Kernel parameters of one machine, such as guard=token frames=100; a blank separates them. */
function own(side, text) {
  const words = text.split(/\s+/).filter(Boolean);
  const wrong = words.find((word) => !OWN.test(word) || TAKEN.includes(word.split("=")[0]));
  if (wrong !== undefined)
    throw new Error(`${side}=${text}: ${wrong} is not a kernel parameter of one machine, such as guard=token.`);
  if (text.length > LONGEST_OWN) throw new Error(`${side}= is too long: ${LONGEST_OWN} characters at most.`);
  return words.join(" ");
}

const WORDS = {
  vm: policies,
  mem: (text) => ranged("mem", text, ", in MiB, as 16M", text.replace(/M$/, "")),
  run: command,
  seed: (text) => ranged("seed", text, ""),
  tau: (text) => ranged("tau", text, " ms"),
  first: (text) => own("first", text),
  second: (text) => own("second", text),
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
    ...Object.fromEntries(SIDES.filter((side) => plan[side]).map((side) => [side, plan[side]])),
    build: BUILD,
  };
  const quoted = (value) => encodeURIComponent(value).replaceAll("%20", "+").replaceAll("%2C", ",");
  return `#${Object.entries(words)
    .map(([name, value]) => `${name}=${quoted(value)}`)
    .join("&")}`;
}

const parameters = (plan, nth) =>
  `sample_ms=${SAMPLE_MS} ws.tau_ms=${plan.tau} wsclock.tau_ms=${plan.tau} ${plan[SIDES[nth]]}`.trimEnd();

/** The name of the nth machine: its policy, and its own parameters if it has some. */
export const machineName = (plan, nth) => `${plan.vm[nth]} ${plan[SIDES[nth]]}`.trimEnd();

/** The kernel's command line for the nth machine, as QEMU would pass it. */
export const commandLine = (plan, nth) =>
  `build/tidemark.elf vm=${plan.vm[nth]} mem=${plan.mem}M swap=sim:hdd,size=${SWAP_MIB}M run="${plan.run}" seed=${plan.seed} exact ${parameters(plan, nth)}`;

/** The command that makes the same run in QEMU. */
export const makeLine = (plan, nth) =>
  `make qemu VM=${plan.vm[nth]} MEM=${plan.mem}M SWAP=sim:hdd,size=${SWAP_MIB}M RUN="${plan.run}" SEED=${plan.seed} CMDLINE="${parameters(plan, nth)}"`;

/** The memory that a workload needs at once, in KiB, for the two workloads whose arguments give it; 0: not known. */
export function demand(run) {
  const [name, first, second] = run.split(/\s+/);
  if (name === "thrash") return whole(first) * whole(second) || 0;
  return name === "seqscan" || name === "hog" ? whole(first) || 0 : 0;
}

/** Says in a sentence why a plan cannot be run; "" if it can. */
export function impossible(plan) {
  if (plan.second && plan.vm.length < 2)
    return `second=${plan.second}: there is no second machine. Choose a policy to race against, or use first=.`;
  const wanted = demand(plan.run) / 1024;
  const there = plan.mem + SWAP_MIB;
  if (wanted <= there) return "";
  return (
    `${plan.run}: this needs ${Math.ceil(wanted)} MiB, but memory and swap area have ${there} in total. ` +
    "Choose fewer processes, smaller ones, or more memory."
  );
}
