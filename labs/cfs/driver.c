/*
 * Drives the run queue through the operations that standard input requests, and prints the results. It
 * does not judge them: tidemark.grade.judge.kinds.queue does.
 *
 * The queue's code is untrusted, so it is another program (queue.c); tests/host/driven/driven.h says how
 * the two work together. They share the memory of the queue and its entities.
 *
 *	b VRUNTIME		an empty queue with this min_vruntime; comes first
 *	n ENTITY WEIGHT		a new entity starts; it has curr's vruntime, or min_vruntime
 *	w ENTITY		the entity wakes, if it sleeps
 *	t NS			so much later, a tick
 *	s			curr, if there is one, sleeps
 *	p			the next entity becomes curr
 *	y			curr yields, if there are others
 *	r ENTITY WEIGHT		the entity gets another weight
 *	l NS WEIGHT		fair_delta
 *	d N			damage the queue in seven ways, undoing each: does fair_check report each
 *				damage, and no error without one? It is called before each damage as often
 *				as two bits of N say
 *
 * Every operation prints one line: the letter, the result, and except for l and d the state of the
 * queue. The result of n and w is what fair_wakeup_preempts says, that of t what fair_tick_preempts
 * says, that of p the entity that fair_pick returns; none: the operation had no effect.
 */
#include "queue.h"
#include "errno.h"
#include <stdio.h>
#include <stdlib.h>

enum { NR_DAMAGES = 7 };

static struct queue *q;
static u64 now = 1000000000;
static u32 nr_entities;

static int index_of(const void *se)
{
	size_t at = (const char *)se - (const char *)q->se;

	if (!se)
		return NONE;
	return at % sizeof(*q->se) || at >= sizeof(q->se) ? STRANGE : (int)(at / sizeof(*q->se));
}

static int index_of_node(const struct rb_node *node)
{
	return node ? index_of(rb_entry(node, struct sched_entity, node)) : NONE;
}

static struct sched_entity *of_node(struct rb_node *node)
{
	return rb_entry(node, struct sched_entity, node);
}

/* Lists a subtree in its order. Returns false if it is not a tree of entities. */
static bool list_subtree(const struct rb_node *node, u32 depth, int *list, u32 *nr)
{
	if (!node)
		return true;
	if (index_of_node(node) < 0 || depth > MAX_ENTITIES)
		return false;
	if (!list_subtree(node->rb_left, depth + 1, list, nr) || *nr == MAX_ENTITIES)
		return false;
	list[(*nr)++] = index_of_node(node);
	return list_subtree(node->rb_right, depth + 1, list, nr);
}

static int check(void)
{
	return (int)ask((struct call){ .what = CHECK });
}

/* Lists the tree. Returns false if it is not a tree of entities: then no pointer in it may be followed. */
static bool list_tree(int *list, u32 *nr)
{
	*nr = 0;
	return list_subtree(q->rq.tree.rb_node, 0, list, nr);
}

static void print_tree(void)
{
	int list[MAX_ENTITIES];
	u32 nr;

	if (!list_tree(list, &nr)) {
		printf(",\"tree\":null");
		return;
	}
	printf(",\"balanced\":%s,\"tree\":[", rb_check(&q->rq.tree) < 0 ? "false" : "true");
	for (u32 i = 0; i < nr; i++)
		printf("%s%d", i ? "," : "", list[i]);
	printf("]");
}

/* Prints the state of the queue, as JSON. */
static void print_queue(void)
{
	struct fair_rq *rq = &q->rq;
	int curr = index_of(rq->curr);

	printf("{\"least\":%llu,\"curr\":%d,\"first\":%d", rq->min_vruntime, curr,
	       index_of_node(rq->leftmost));
	printf(",\"nr\":%u,\"load\":%u,\"check\":%d", rq->nr_running, rq->load, check());
	printf(",\"slice\":%u", curr < 0 ? 0 : (u32)ask((struct call){ .what = SLICE, .a = curr }));
	print_tree();
	printf(",\"vruntimes\":[");
	for (u32 i = 0; i < nr_entities; i++)
		printf("%s%llu", i ? "," : "", q->se[i].vruntime);
	printf("],\"ran\":[");
	for (u32 i = 0; i < nr_entities; i++)
		printf("%s%llu", i ? "," : "", q->se[i].sum_exec - q->se[i].slice_start);
	printf("]}\n");
}

static void begin(const char *driver)
{
	q = create_memory(sizeof(*q));
	q->rq.min_vruntime = number();
	start_program(driver, "queue");
	printf("b none ");
	print_queue();
}

static u32 entity_number(void)
{
	u64 n = number();

	if (n >= MAX_ENTITIES)
		exit(2);
	nr_entities = MAX(nr_entities, (u32)n + 1);
	return n;
}

static void enqueue(u32 i, enum fair_start start)
{
	ask((struct call){ .what = ENQUEUE, .a = i, .b = start });
	printf("%d ", (int)ask((struct call){ .what = WAKEUP, .a = i }));
}

static void start(void)
{
	u32 i = entity_number();

	q->se[i] = (struct sched_entity){ .weight = number() };
	/* curr may lead to what the queue's program must not know: the word. */
	q->se[i].vruntime = index_of(q->rq.curr) < 0 ? q->rq.min_vruntime : q->rq.curr->vruntime;
	printf("n ");
	enqueue(i, FAIR_NEW);
	print_queue();
}

static void wake(void)
{
	u32 i = entity_number();

	printf("w ");
	if (q->se[i].weight && !q->se[i].on_rq)
		enqueue(i, FAIR_WAKEUP);
	else
		printf("none ");
	print_queue();
}

static void tick(void)
{
	now += number();
	ask((struct call){ .what = CHARGE, .a = now });
	printf("t ");
	if (q->rq.curr)
		printf("%d ", (int)ask((struct call){ .what = TICK }));
	else
		printf("none ");
	print_queue();
}

static void sleep_or_yield(char what)
{
	bool can = what == 's' ? q->rq.curr != NULL : q->rq.curr && q->rq.nr_running > 1;

	if (can)
		ask((struct call){ .what = what == 's' ? SLEEP : YIELD });
	printf("%c %s ", what, can ? "done" : "none");
	print_queue();
}

static void pick(void)
{
	printf("p %d ", index_of((void *)(uintptr_t)ask((struct call){ .what = PICK, .a = now })));
	print_queue();
}

static void reweight(void)
{
	u32 i = entity_number();

	ask((struct call){ .what = REWEIGHT, .a = i, .b = number() });
	printf("r none ");
	print_queue();
}

static void convert(void)
{
	u64 ns = number();

	printf("l %llu\n", ask((struct call){ .what = DELTA, .a = ns, .b = number() }));
}

/* Damages the queue in one way; `first` and `last` are the ends of its tree. */
static void damage_one(u32 way, struct sched_entity *first, struct sched_entity *last)
{
	struct fair_rq *rq = &q->rq;

	switch (way) {
	case 0:
		rq->nr_running++;
		break;
	case 1:
		rq->load++;
		break;
	case 2:
		last->vruntime = first->vruntime - 1;
		break;
	case 3:
		rq->leftmost = &last->node;
		break;
	case 4:
		first->node.rb_parent_color ^= RB_BLACK;
		break;
	case 5:
		first->on_rq = false;
		break;
	case 6: /* the counts are right: first counts twice, curr not at all */
		rq->load += first->weight - rq->curr->weight;
		rq->curr = first;
		break;
	}
}

static void damage(void)
{
	u32 often = number();
	struct queue sound = *q;
	bool content = true;
	int list[MAX_ENTITIES];
	u32 nr;

	printf("d");
	if (index_of(q->rq.curr) < 0 || q->rq.nr_running < 4 || !list_tree(list, &nr) ||
	    rb_check(&q->rq.tree) < 3) {
		printf(" none\n");
		return;
	}
	for (u32 way = 0; way < NR_DAMAGES; way++) {
		for (u32 n = often >> 2 * way & 3; n; n--)
			content &= !check();
		damage_one(way, of_node(rb_first(&q->rq.tree)), of_node(rb_last(&q->rq.tree)));
		printf(" %s", check() == -EINVAL ? "found" : "missed");
		*q = sound;
	}
	content &= !check();
	printf(" %s\n", content ? "content" : "never");
}

static void operate(char what, const char *driver)
{
	switch (what) {
	case 'b':
		return begin(driver);
	case 'n':
		return start();
	case 'w':
		return wake();
	case 't':
		return tick();
	case 's':
	case 'y':
		return sleep_or_yield(what);
	case 'p':
		return pick();
	case 'r':
		return reweight();
	case 'l':
		return convert();
	case 'd':
		return damage();
	}
	exit(2);
}

int main(int argc, char **argv)
{
	char what;

	(void)argc;
	take_input();
	while (next_operation(&what))
		operate(what, argv[0]);
	return 0;
}
