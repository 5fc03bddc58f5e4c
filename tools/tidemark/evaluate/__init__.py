"""The evaluation of a policy for a person or a program that searches for good ones: `tidemark evaluate POLICY.c`.

The file is not trusted. It is compiled and run only in the grader's sandbox (tidemark.grade.build.sandbox), in a copy
of the tree, and kept to the grader's rules on objects (tidemark.grade.build.object_rules). A policy that breaks any
rule is refused: it gets a reason instead of numbers.

    in the simulator   the rules of mm/policy.h, the address and undefined-behavior sanitizers, a limit of processor
                       time; and never fewer faults than MIN, since then it has changed the simulator's own data
    in the kernel      the same rules, checked by the kernel, and what the grader's plugin sees from outside QEMU: each
                       access to memory that is not the policy's own; and a limit of instructions

The set, version SET. Each replicate r (tidemark.runs.replicates) draws jitter, seed, layout of the disk, and sizes
within 1 %, for every cell of the set:

    strings   the generated strings of the standard set with the middle one of their frames, REFERENCES long, in the
              simulator: faults over those of MIN
    machine   five programs in the kernel with 12 MiB (booted.CELLS): one process larger than memory twice, with a
              locality that moves and with popular pages; an overload of six processes without a guard and under
              `serialize`; and a file that streams past a hot set. Virtual time, by QEMU's clock, over the least that
              the disk alone needs (least.py), for which no policy and no guard is fast enough; and pages read over the
              least. Three cells run in a circle, where even evicting the newest page does well, and the first two do
              not, where that is a disaster: a policy must be good at both
    hooks     instructions of all cells of `machine` over the same without those in hooks. Besides, the figure `hooks`
              measures one run, `seqscan 38912 5`: instructions in hooks per fault, and per cent

A replicate's score is the geometric mean of its three parts, and a part's value the geometric mean of its cells. Each
ratio is at least 1, and 1 is the best possible, so a lower score is better. A policy that halves the faults on all
strings gains as much as one that halves the time of all programs; a policy whose hooks take half of all instructions
loses a factor of 2 in one part.

Intervals are those of tidemark.runs.claims: the sign test's for the median over replicates, 95 % for each by itself.
REPLICATES is the least number that has such an interval. All runs are exact, so the same file, tree and seed give the
same numbers.

The set is evaluated twice. `public` has the replicates 1 to REPLICATES, which a search may use as it likes. `held_out`
has replicates that the seed numbers (held_out_numbers): other strings, other sizes, other jitter. Without `--seed` the
seed is drawn anew each time, and printed, so a search cannot fit a policy to it. A policy that is much worse there
than in public was fitted to the public draws. The board (board.py) ranks by the held-out set of a secret seed.

Time: 36 strings and 30 boots for each half, one for each processor at a time. Under a policy like CLOCK all take
about 70 seconds of processor time; under one with many more faults, more, up to the limit of instructions for each
run. What does not depend on the policy (strings, MIN, the empty disk) is made once.

`tidemark evaluate` prints one object, described in docs/reference/evaluate.md; SCHEMA is its version. A larger
SET or SCHEMA means that old numbers cannot be compared with new ones, or have other names.
"""

SCHEMA = 1
SET = 1
REPLICATES = 6
