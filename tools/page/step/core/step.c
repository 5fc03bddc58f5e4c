/* What the page calls, in place of tools/vmsim/main.c and host.c. See step.h. */
#include "step.h"

#include "lib/string.h"

#define EXPORT(name) __attribute__((export_name(name)))
#define MOST_EDGES                                                                                 \
	20000000u /* of a policy's flow of control, in one reference: hundreds are usual */

void *sim_future;
extern const struct vm_policy *const *const step_policies[]; /* made by tools/registry.awk */
static const struct vm_policy *chosen;
const struct vm_policy *const *const policy_table[] = { &chosen, NULL };
static u32 edges;

/* Called by the compiler's leave at each edge of a policy's flow of control (-fsanitize-coverage=trace-pc). */
void __sanitizer_cov_trace_pc(void)
{
	if (edges++ == MOST_EDGES)
		rule_fatal(&policy_timer, "time", policy_timer.running ?: "",
			   "it does not come to an end");
}

const char *step_begin(void)
{
	step_out.length = step_err.length = edges = 0;
	return step_out.text;
}

/* What was printed last, also when a trap came in between, and how long it is. */
EXPORT("text") const char *step_text(void)
{
	return step_out.text;
}

EXPORT("length") size_t step_length(void)
{
	return step_out.length;
}

/* A trap came, and what was printed last names no broken rule. */
EXPORT("crashed") const char *step_crashed(void)
{
	const char *text = step_begin();

	report_violation(&(struct violation){ .name = chosen->name,
					      .rule = "crash",
					      .hook = policy_timer.running ?: "",
					      .what = "it used memory that is not its own" });
	return text;
}

static void print_text(const char *text)
{
	putchar('"');
	for (; *text; text++)
		printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	putchar('"');
}

static void print_params(const struct vm_policy *policy)
{
	for (const struct vm_param *p = policy->params; p && p->name; p++) {
		printf("%s{\"name\":\"%s\",\"value\":%u,\"min\":%u,\"max\":%u,\"unit\":\"%s\",\"help\":",
		       p == policy->params ? "" : ",", p->name, *p->value, p->min, p->max,
		       p->unit ?: "");
		print_text(p->help ?: "");
		putchar('}');
	}
}

/* A line for each policy, with its parameters. */
EXPORT("policies") const char *step_list(void)
{
	const char *text = step_begin();

	for (u32 i = 0; step_policies[i]; i++) {
		const struct vm_policy *policy = *step_policies[i];

		printf("{\"name\":\"%s\",\"summary\":", policy->name);
		print_text(policy->summary ?: "");
		fputs(",\"params\":[", stdout);
		print_params(policy);
		puts("]}");
	}
	return text;
}

/* Sets a policy's parameter, by its place. The page has checked the value. */
EXPORT("set") void step_set(u32 policy, u32 param, u32 value)
{
	*(*step_policies[policy])->params[param].value = value;
}

/* So many bytes for the future (lib/future.h), which the page writes before start. */
EXPORT("future") void *step_future(size_t bytes)
{
	sim_future = malloc(bytes);
	return sim_future;
}

EXPORT("start") const char *step_start(u32 policy, u32 nr_frames)
{
	const char *text = step_begin();

	chosen = *step_policies[policy];
	report_explains = true;
	memory_start(nr_frames);
	return text;
}

/* A reference of a kind (REF_*), which takes ns. Two lines: the simulator's, and what stands beside it. */
EXPORT("refer") const char *step_refer(u32 vpage, u32 ns, u32 kind)
{
	const char *text = step_begin();

	beside_seen(vpage);
	memory_run(vpage, 1, ns, kind);
	beside_reference();
	return text;
}

/* The counts. */
EXPORT("end") const char *step_end(void)
{
	const char *text = step_begin();

	memory_end();
	report_result();
	return text;
}
