"""Correct solutions of the labs that differ from the reference: NAME, which begins with its file's name, and text.

Other designs are files, tests/grade/correct/NAME.c, in which NAME is the name of the policy. The others are the
reference with some pieces replaced.
"""

from __future__ import annotations

import re
from pathlib import Path

from grading import solution
from tidemark.grade.intake import lab
from tidemark.machine import qemu

FOLDER = qemu.ROOT / "tests/grade/correct"
FILES = {
    Path(file).stem: (name, file)
    for name in lab.names(qemu.ROOT)
    for file in lab.load(qemu.ROOT, name).files
    if file.endswith(".c")
}
FUNCTION = re.compile(r"^static (?!inline)(?=[^;={}]*\)\n\{)", re.MULTILINE)


def inline(source: str) -> str:
    """Makes every function inline."""
    return FUNCTION.sub("static inline ", source)


def apart(source: str) -> str:
    """Prevents inlining of all functions."""
    return FUNCTION.sub("static __attribute__((noinline)) ", source)


FORMS = {
    "buddy": (inline, apart),
    "fair": (inline, apart),
    "token": (inline, apart),
    "ws": (inline,),
    "anon": (apart,),
    "order": (apart,),
}
CHANGES: dict[str, tuple[tuple[str, str], ...]] = {
    "buddy_oldest_first": (("list_add(&page->lru", "list_add_tail(&page->lru"),),
    "buddy_upper_half": (
        (
            "\t\tblock_insert(z, page + (1u << k), k);\n\t}\n",
            "\t\tblock_insert(z, page, k);\n\t\tpage += 1u << k;\n\t}\n\tpage->lru.next = LIST_POISON_NEXT;\n",
        ),
    ),
    "buddy_always_merges": (
        (
            "\tif (free_buddy(z, pfn, order))\n\t\tfree_by_merging(z, pfn, order);\n"
            "\telse\n\t\tblock_insert(z, page, order);\n",
            "\tfree_by_merging(z, pfn, order);\n",
        ),
    ),
    "buddy_calls_itself": (
        (
            "\twhile ((buddy = free_buddy(z, pfn, order))) {\n\t\tblock_remove(z, buddy, order, INSIDE);\n"
            "\t\tpfn &= ~(1u << order);\n\t\torder++;\n\t}\n\tblock_insert(z, pfn_page(pfn), order);\n",
            "\tbuddy = free_buddy(z, pfn, order);\n\tif (!buddy) {\n\t\tblock_insert(z, pfn_page(pfn), order);\n"
            "\t\treturn;\n\t}\n\tblock_remove(z, buddy, order, INSIDE);\n"
            "\tfree_by_merging(z, pfn & ~(1u << order), order + 1);\n",
        ),
    ),
    "walk_shifts": (
        ("return pgd + va / TABLE_SPAN;", "return &pgd[va >> 22];"),
        ("+ va / PAGE_SIZE % PTRS_PER_PTE", "+ ((va >> 12) & 1023)"),
        ("(pgd_entry(pgd, va)->v & (PTE_P | PTE_PS)) == PTE_P;", "(pgd[va >> 22].v & PTE_P) != 0;"),
    ),
    "walk_downwards": (
        (
            "for (u32 i = start / TABLE_SPAN; i < end / TABLE_SPAN; i++)",
            "for (u32 i = end / TABLE_SPAN; i-- > start / TABLE_SPAN;)",
        ),
    ),
    "anon_writes_first": (
        (
            "\tif (!f->write) {\n\t\t*f->pte = pte_make(page_pfn(zero_page), false);\n\t\treturn 0;\n\t}\n"
            "\tpage = alloc_anon(f->vma, GFP_ZERO);\n\tif (!page)\n\t\treturn -ENOMEM;\n"
            "\tmap_new_anon(f, page);\n\treturn 0;\n",
            "\tif (f->write) {\n\t\tpage = alloc_anon(f->vma, GFP_ZERO);\n\t\tif (page)\n"
            "\t\t\tmap_new_anon(f, page);\n\t\treturn page ? 0 : -ENOMEM;\n\t}\n"
            "\t*f->pte = pte_make(page_pfn(zero_page), false);\n\treturn 0;\n",
        ),
    ),
    "anon_flushes_each": (
        (
            "\t\t*pte = pte_wrprotect(*pte);\n",
            "\t{\n\t\t*pte = pte_wrprotect(*pte);\n\t\ttlb_flush_all(vma->mm->pgd);\n\t}\n",
        ),
    ),
    "fair_divides": (
        ("\tif (ns >> 32)\n\t\treturn ns * NICE_0_WEIGHT / weight;\n", ""),
        ("return ns * (UINT32_MAX / weight) >> 22;", "return ns * NICE_0_WEIGHT / weight;"),
    ),
    "fair_asks_the_tree": (
        (
            "rq->leftmost = rb_next(&se->node);\n\trb_erase(&se->node, &rq->tree);",
            "rq->leftmost = NULL;\n\trb_erase(&se->node, &rq->tree);\n\trq->leftmost = rb_first(&rq->tree);",
        ),
        ("\tif (leftmost)\n\t\trq->leftmost = &se->node;\n", ""),
        ("\tbool leftmost = true;\n", ""),
        (
            "{\n\t\t\tlink = &parent->rb_right;\n\t\t\tleftmost = false;\n\t\t}",
            "{\n\t\t\tlink = &parent->rb_right;\n\t\t}",
        ),
        (
            "\trb_insert_color(&se->node, &rq->tree);\n",
            "\trb_insert_color(&se->node, &rq->tree);\n\trq->leftmost = rb_first(&rq->tree);\n",
        ),
    ),
    "fair_least_at_each_change": (
        (
            "\tse->slice_start = se->sum_exec;\n\trq->curr = se;\n",
            "\tse->slice_start = se->sum_exec;\n\trq->curr = se;\n\tupdate_min_vruntime(rq);\n",
        ),
        (
            "\trq->load += se->weight;\n\ttree_insert(rq, se);\n",
            "\trq->load += se->weight;\n\ttree_insert(rq, se);\n\tupdate_min_vruntime(rq);\n",
        ),
    ),
    "fair_least_at_charges": (("\trq->curr = NULL;\n\tupdate_min_vruntime(rq);\n", "\trq->curr = NULL;\n"),),
    "fair_yields_by_a_slice": (
        (
            "\t\trq->curr->vruntime = entity(last)->vruntime;\n",
            "\t\trq->curr->vruntime = entity(last)->vruntime + sched_min_granularity_ns;\n",
        ),
    ),
    "useonce_larger_batches": (("#define ACTIVE_BATCH 32", "#define ACTIVE_BATCH 64"),),
    "useonce_smaller_batches": (("#define ACTIVE_BATCH 32", "#define ACTIVE_BATCH 16"),),
    "useonce_looks_then_asks": (
        (
            "used = page_referenced(page) || p->referenced;",
            "used = p->referenced;\n\t\tif (page_referenced(page))\n\t\t\tused = true;",
        ),
    ),
    "ws_looks_at_all": (("#define LOOKS 2048u", "#define LOOKS 65536u"),),
    "ws_who_runs_goes_on": (("->since >= ws_mm(victim)->since", "->since > ws_mm(victim)->since"),),
    "ws_who_waited_longest": (
        (
            "w->own.set.nr > n->own.set.nr ||\n\t\t    (w->own.set.nr == n->own.set.nr && w->since < n->since)",
            "w->since < n->since",
        ),
    ),
    "ws_reads_less_ahead": (("#define WORTH 16 ", "#define WORTH 8 "),),
    "token_is_never_taken_back": (
        (
            "\treturn busy > cpu_high || mm_sleeps(holder) || now - since_ns > turn_ms * 1000000ull;\n",
            "\treturn turn_ms == 0 || cpu_high > 1000 || now < since_ns;\n",
        ),
        # A parent that waits for its children would keep it for as long as they run.
        ("\t\tif (mm == last || mm_demand", "\t\tif (mm == last || mm_demand(mm) < vm_frames() / 16 || mm_demand"),
    ),
    "token_spares_by_count": (
        (
            "\tif (!holder || owner != holder)\n\t\treturn false;\n\tnr_spared++;\n\treturn true;\n",
            "\tbool spares = holder && owner == holder;\n\n\tnr_spared += spares;\n\treturn spares;\n",
        ),
    ),
}


def exchanged(source: str, changes: tuple[tuple[str, str], ...]) -> str:
    """The source with pieces replaced, each of which occurs once."""
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


def home(name: str) -> tuple[str, str]:
    """The lab of a solution, and the file."""
    return FILES[name.partition("_")[0]]


def solutions() -> dict[str, str]:
    """All solutions."""
    designs = {
        path.stem: path.read_text().replace(path.stem, path.stem.partition("_")[0]) for path in FOLDER.glob("*.c")
    }
    changed = {name: exchanged(solution(home(name)[1]), changes) for name, changes in CHANGES.items()}
    forms = {f"{stem}_{form.__name__}": form(solution(FILES[stem][1])) for stem, them in FORMS.items() for form in them}
    return dict(sorted((designs | changed | forms).items()))
