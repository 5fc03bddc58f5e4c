# registry.awk: a C table of what the given files register, in the order of the files.
#
#	awk -v kind=policy -f tools/registry.awk kernel/mm/policy/*.c		VM_POLICY(x): struct vm_policy
#	awk -v kind=guard -f tools/registry.awk kernel/mm/guard/*.c		VM_GUARD(x): struct vm_guard
#
# So a new file in the folder is registered without being listed anywhere, and without help from the linker. The names of
# the entries are made by VM_ENTRY in mm/policy.h, from the name of the file, which the build passes as VM_FILE, and x.

BEGIN {
	declaration = "^[ \t]*VM_" toupper(kind) "[ \t]*\\([ \t]*[A-Za-z_][A-Za-z_0-9]*[ \t]*\\)"
}

FNR == 1 {
	file = FILENAME
	sub(/.*\//, "", file)
	sub(/\.c$/, "", file)
	gsub(/[-.]/, "_", file)
}

$0 ~ declaration {
	match($0, /\([ \t]*[A-Za-z_0-9]+/)
	name = substr($0, RSTART + 1, RLENGTH - 1)
	gsub(/[ \t]/, "", name)
	entry[++n] = "vm_" kind "_in_" file "_" name
}

END {
	printf "/* Made by tools/registry.awk. */\n#include \"mm/%s_core.h\"\n\n", kind
	for (i = 1; i <= n; i++)
		printf "extern const struct vm_%s *const %s;\n", kind, entry[i]
	printf "\nconst struct vm_%s *const *const %s_table[] = {\n", kind, kind
	for (i = 1; i <= n; i++)
		printf "\t&%s,\n", entry[i]
	print "\tNULL,\n};"
}
