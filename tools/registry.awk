# registry.awk: a table in C of what the given files register, in the order of the files.
#
#	awk -v kind=policy -f tools/registry.awk kernel/mm/policy/*.c		VM_POLICY(x): struct vm_policy
#	awk -v kind=guard -f tools/registry.awk kernel/mm/guard/*.c		VM_GUARD(x): struct vm_guard
#
# So a new file in the folder is registered without being named anywhere, and without help from the linker.

BEGIN {
	macro = "VM_" toupper(kind)
	declaration = "^[ \t]*" macro "[ \t]*\\([ \t]*[A-Za-z_][A-Za-z_0-9]*[ \t]*\\)"
}

$0 ~ declaration {
	match($0, /\([ \t]*[A-Za-z_0-9]+/)
	name = substr($0, RSTART + 1, RLENGTH - 1)
	gsub(/[ \t]/, "", name)
	if (name in file) {
		printf "%s(%s) stands in %s and in %s: the names must differ\n", macro, name, file[name], FILENAME >"/dev/stderr"
		failed = 1
	}
	file[name] = FILENAME
	names[++n] = name
}

END {
	printf "/* Made by tools/registry.awk. */\n#include \"mm/%s_core.h\"\n\n", kind
	for (i = 1; i <= n; i++)
		printf "extern const struct vm_%s *const vm_%s_entry_%s;\n", kind, kind, names[i]
	printf "\nconst struct vm_%s *const *const %s_table[] = {\n", kind, kind
	for (i = 1; i <= n; i++)
		printf "\t&vm_%s_entry_%s,\n", kind, names[i]
	print "\tNULL,\n};"
	exit failed
}
