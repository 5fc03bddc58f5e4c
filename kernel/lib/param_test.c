#include "parse.c"
#include "param.c"
#include "param_run.c"
#include "lib/ktap.h"

static u32 swappiness = 60;
static bool quiet;
static u64 mem = 64 << 20;
static char run[16] = "none";
static const char *policy = "2q";
static u32 tau_ms = 100, hands = 1;

static const char *policy_parse(const char *text)
{
	static const char *const names[] = { "2q", "clock", "fifo" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(text, names[i])) {
			policy = names[i];
			return NULL;
		}
	return "no such policy";
}

static void policy_list(char *buf, size_t size)
{
	strlcpy(buf, "2q|clock|fifo", size);
}

static void policy_show(char *buf, size_t size)
{
	strlcpy(buf, policy, size);
}

static u32 nr_changes;

static void count_change(void)
{
	nr_changes++;
}

PARAM_U32("vm.swappiness", swappiness, 0, 100, "%", "how soon anonymous memory is taken",
	  .changed = count_change);
PARAM_BOOL("quiet", quiet, "print nothing");
PARAM_SIZE("mem", mem, 4 << 20, 3ull << 30, "memory to manage");
PARAM_STR("run", run, "command to run");
PARAM_ENUM("vm", policy_parse, policy_list, policy_show, "replacement policy");

static const struct vm_param ws_table[] = {
	{ "tau_ms", &tau_ms, 1, 10000, "ms", "window" },
	{ "hands", &hands, 1, 2, NULL, "clock hands" },
	{ NULL },
};

static char err[512];

/* Parses a copy of the line, because the parser modifies it. */
static const char *parse(const char *line)
{
	static char copy[256];

	strlcpy(copy, line, sizeof(copy));
	err[0] = '\0';
	return param_parse_line(copy, err, sizeof(err));
}

static const char *get(const char *name)
{
	static char buf[32];

	return param_get(name, buf, sizeof(buf)) < 0 ? "?" : buf;
}

KTEST(param, a_whole_line)
{
	EXPECT_EQ(parse("vm=clock  mem=128M\tvm.swappiness=7 quiet run=\"a b  c\""), NULL);
	EXPECT_STREQ(policy, "clock");
	EXPECT_EQ(mem, 128 << 20);
	EXPECT_EQ(swappiness, 7);
	EXPECT(quiet);
	EXPECT_STREQ(run, "a b  c");
	EXPECT_EQ(parse(""), NULL);
	EXPECT_EQ(parse("   "), NULL);
}

KTEST(param, loader_path_is_skipped)
{
	EXPECT_EQ(parse("build/tidemark.elf quiet=0"), NULL);
	EXPECT(!quiet);
	EXPECT_EQ(parse("/boot/tidemark quiet=1"), NULL);
	EXPECT(quiet);
	EXPECT(parse("quiet=0 /boot/tidemark") != NULL);
}

KTEST(param, who_wants_to_know_is_told_of_each_change)
{
	u32 before = nr_changes;

	EXPECT_EQ(parse("vm.swappiness=8 quiet"), NULL);
	EXPECT_EQ(nr_changes, before + 1);
	EXPECT(parse("vm.swappiness=101") != NULL);
	EXPECT_EQ(nr_changes, before + 1);
}

KTEST(param, quotes)
{
	EXPECT_EQ(parse("\"run=x y\" quiet=off"), NULL);
	EXPECT_STREQ(run, "x y");
	EXPECT(!quiet);
	EXPECT_EQ(parse("run=\"\""), NULL);
	EXPECT_STREQ(run, "");
	EXPECT_STREQ(parse("run=\"x y"), "run=x y: the quote is not closed");
}

KTEST(param, unknown_name_lists_the_names)
{
	EXPECT_STREQ(parse("swapiness=7"), "unknown parameter swapiness; there are: "
					   "vm.swappiness quiet mem run vm");
	EXPECT_STREQ(parse("vm.swap=7"), "unknown parameter vm.swap; did you mean vm.swappiness? "
					 "there are: vm.swappiness quiet mem run vm");
	EXPECT_STREQ(parse("quite"), "unknown parameter quite; did you mean quiet? "
				     "there are: vm.swappiness quiet mem run vm");
	EXPECT(parse("word") != NULL);
	EXPECT(parse("=5") != NULL);
}

KTEST(param, bad_values_list_the_valid_ones)
{
	swappiness = 7;
	EXPECT_STREQ(parse("vm.swappiness=101"), "vm.swappiness=101: valid: 0..100 %");
	EXPECT_STREQ(parse("vm.swappiness=x"), "vm.swappiness=x: valid: 0..100 %");
	EXPECT_STREQ(parse("vm.swappiness"), "vm.swappiness=: a value is needed; valid: 0..100 %");
	EXPECT_STREQ(parse("vm.swappiness="), "vm.swappiness=: valid: 0..100 %");
	EXPECT_EQ(swappiness, 7);
	EXPECT_STREQ(parse("mem=5G"), "mem=5G: valid: 4M..3G bytes");
	EXPECT_STREQ(parse("quiet=maybe"), "quiet=maybe: valid: on|off");
	EXPECT_STREQ(parse("run=0123456789abcdef"),
		     "run=0123456789abcdef: valid: text of at most 15 bytes");
	EXPECT_STREQ(parse("vm=lru"), "vm=lru: no such policy; valid: 2q|clock|fifo");
}

KTEST(param, words_before_a_refused_one_count)
{
	EXPECT(parse("vm.swappiness=11 nonsense vm.swappiness=12") != NULL);
	EXPECT_EQ(swappiness, 11);
}

KTEST(param, tables_under_a_prefix)
{
	EXPECT(parse("ws.tau_ms=200") != NULL);
	EXPECT_EQ(param_register("ws", ws_table), 0);
	EXPECT_EQ(param_register("ws", ws_table), -EEXIST);
	EXPECT_EQ(parse("ws.tau_ms=200 ws.hands=2"), NULL);
	EXPECT_EQ(tau_ms, 200);
	EXPECT_EQ(hands, 2);
	EXPECT_STREQ(parse("ws.tau_ms=0"), "ws.tau_ms=0: valid: 1..10000 ms");
	EXPECT_STREQ(parse("ws.hands=3"), "ws.hands=3: valid: 1..2");
	EXPECT(strstr(parse("ws.tau=1"), " ws.tau_ms ws.hands"));
	EXPECT(parse("w.tau_ms=1") != NULL);
	EXPECT(parse("wsxtau_ms=1") != NULL);
	EXPECT_STREQ(get("ws.tau_ms"), "200");
	nr_tables = 0;
	EXPECT_EQ(param_get("ws.tau_ms", err, sizeof(err)), -ENOENT);
}

KTEST(param, tables_run_out)
{
	static char prefixes[MAX_TABLES][16];
	int i;

	for (i = 0; i < MAX_TABLES; i++) {
		snprintf(prefixes[i], sizeof(prefixes[i]), "p%d", i);
		EXPECT_EQ(param_register(prefixes[i], ws_table), 0);
	}
	EXPECT_EQ(param_register("one_more", ws_table), -ENOSPC);
	nr_tables = 0;
}

KTEST(param, text_in_text_out)
{
	EXPECT_EQ(param_set("vm.swappiness", "33\n", err, sizeof(err)), 0);
	EXPECT_STREQ(get("vm.swappiness"), "33");
	EXPECT_EQ(param_set("quiet", "yes", err, sizeof(err)), 0);
	EXPECT_STREQ(get("quiet"), "1");
	EXPECT_EQ(param_set("mem", "8M", err, sizeof(err)), 0);
	EXPECT_STREQ(get("mem"), "8388608");
	EXPECT_EQ(param_set("run", "ls -l\n", err, sizeof(err)), 0);
	EXPECT_STREQ(get("run"), "ls -l");
	EXPECT_EQ(param_set("vm", "fifo\n", err, sizeof(err)), 0);
	EXPECT_STREQ(get("vm"), "fifo");
	EXPECT_EQ(param_set("vm", "lru", NULL, 0), -EINVAL);
	EXPECT_EQ(param_set("nothing", "1", NULL, 0), -ENOENT);
	EXPECT_STREQ(get("nothing"), "?");
}

KTEST(param, long_text_is_refused_and_short_buffers_are_kept)
{
	char text[MAX_TEXT + 10], small[20];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	EXPECT_EQ(param_set("run", text, small, sizeof(small)), -EINVAL);
	EXPECT_EQ(param_set("nothing", "1", small, sizeof(small)), -ENOENT);
	EXPECT_STREQ(small, "unknown parameter n");
	EXPECT_EQ(param_get("mem", small, 3), 2);
	EXPECT_EQ(param_get("vm", small, 3), 2);
}

static bool count_until_mem(const struct param_info *info, void *arg)
{
	(*(int *)arg)++;
	EXPECT(info->help != NULL);
	return strcmp(info->name, "mem");
}

KTEST(param, for_each_stops_when_told)
{
	int n = 0;

	param_for_each(count_until_mem, &n);
	EXPECT_EQ(n, 3);
}
