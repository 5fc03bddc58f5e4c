/* What a policy did at a reference, in words. `why` uses the words of the table of `make sim EXPLAIN=1`. */
import { pageName } from "./strings.js";

const CALM = 12; // the first priority
const ACTS = { detach: " (detach)", launder: " (launder)" };

function question(hook) {
  if (hook.trim) return "trim";
  return hook.hook + ((hook.priority ?? CALM) < CALM ? ` at priority ${hook.priority}` : "");
}

function answer(hook) {
  const parts = hook.looked.map(([page, used]) => `${pageName(page)} ${used ? "used" : "unused"}`);
  if (hook.gave === null) parts.push("nothing");
  else if (hook.gave !== undefined) parts.push(`takes ${pageName(hook.gave)}${ACTS[hook.act] ?? ""}`);
  return parts.join(", ");
}

/** All questions and answers; repeated questions are mentioned once. */
export function why(row) {
  const groups = [];
  for (const hook of row.hooks) {
    const asked = question(hook);
    if (groups.at(-1)?.asked !== asked) groups.push({ asked, answers: [] });
    const said = answer(hook);
    if (said) groups.at(-1).answers.push(said);
  }
  return groups.map(({ asked, answers }) => (answers.length ? `${asked}: ${answers.join(", ")}` : asked)).join("; ");
}

/** Pages that were evicted at this reference, because a frame was needed or because they were surplus. */
export function victims(row) {
  return row.hooks.filter((hook) => hook.act === "evict").map((hook) => hook.gave);
}

function list(pages) {
  return pages.map(pageName).join(", ");
}

const RESULTS = {
  hit: (page) => `Page ${page} is in memory: a hit.`,
  fault: (page) => `Page ${page} is not in memory: a fault.`,
  minor: (page) => `Page ${page} is in memory, but the policy had made its next use a fault.`,
};

const LONG = 14; // number of inspected pages above which only the ends are listed

/** "1 used, 2 unused", shortened in the middle. */
function looked(hooks) {
  const all = hooks
    .flatMap((hook) => hook.looked)
    .map(([page, used]) => `${pageName(page)} (${used ? "used" : "not used"})`);
  if (all.length <= LONG) return all.join(", ");
  return `${all.slice(0, LONG / 2).join(", ")}, ${all.length - LONG} more, ${all.slice(-LONG / 2).join(", ")}`;
}

function asked(policy, name, hooks) {
  const parts = [];
  const seen = looked(hooks);
  if (seen) parts.push(`looks at ${seen}`);
  for (const [act, verb] of [
    ["detach", "detaches"],
    ["launder", "has written"],
    ["evict", "takes"],
  ]) {
    const pages = hooks.filter((hook) => hook.act === act).map((hook) => hook.gave);
    if (pages.length) parts.push(`${verb} ${list(pages)}`);
  }
  if (!parts.length) return "";
  const where = { select: "", trim: "As surplus, ", tick: "At its tick, " }[name] ?? `In ${name}, `;
  return `${where}${policy} ${parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts[0]}.`;
}

/** Says what happened, in sentences. */
export function told(row, policy) {
  const sentences = [RESULTS[row.result](pageName(row.page))];
  const taken = row.hooks.some((hook) => hook.hook === "select" && !hook.trim);
  if (row.result === "fault") sentences.push(taken ? "No frame is free." : "A frame is free.");
  const names = [...new Set(row.hooks.map((hook) => (hook.trim ? "trim" : hook.hook)))];
  for (const name of names)
    sentences.push(
      asked(
        policy,
        name,
        row.hooks.filter((hook) => (hook.trim ? "trim" : hook.hook) === name),
      ),
    );
  return sentences.filter(Boolean).join(" ");
}

/** What MIN would have done instead; empty if nothing was evicted. */
export function minWords(row) {
  if (!row.min.length) return "";
  const left = row.hooks.filter((hook) => hook.act === "evict" && !hook.trim).map((hook) => hook.gave);
  const when = row.minNext === null ? "never used again" : `not used again before reference ${row.minNext}`;
  if (left.length && left.every((page) => row.min.includes(page)))
    return `MIN would have made the same choice: ${when}.`;
  const which =
    row.min.length > 1
      ? `${row.min.slice(0, -1).map(pageName).join(", ")} or ${pageName(row.min.at(-1))}`
      : pageName(row.min[0]);
  return `MIN would have evicted ${which}: ${when}.`;
}
