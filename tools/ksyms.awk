# Converts the output of `nm -n` for the kernel to an assembler file with the kernel's function names, for backtraces.
# ksyms_addrs[i] (ascending) is the address of the function whose name starts at ksyms_names + ksyms_offsets[i].

BEGIN { n = 0 }

# The assembler would misread a name that is not a C identifier.
($2 == "t" || $2 == "T") && $1 >= "c0000000" && $3 ~ /^[A-Za-z_.][A-Za-z_0-9.]*$/ && $3 !~ /^(__text_start|__text_end|\.L)/ {
	addr[n] = $1
	name[n++] = $3
}

END {
	print ".section .ksyms, \"a\""
	print ".globl ksyms_count, ksyms_addrs, ksyms_offsets, ksyms_names"
	print "ksyms_count: .long " n + 0
	print "ksyms_addrs:"
	for (i = 0; i < n; i++)
		print ".long 0x" addr[i]
	print "ksyms_offsets:"
	for (i = 0; i < n; i++) {
		print ".long " offset + 0
		offset += length(name[i]) + 1
	}
	print "ksyms_names:"
	for (i = 0; i < n; i++)
		print ".asciz \"" name[i] "\""
}
