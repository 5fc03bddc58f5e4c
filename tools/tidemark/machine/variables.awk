# The table of make's variables (variables.txt, beside this) as text for people: for `make help`, or with -v markdown=1
# for docs/reference/variables.md.

BEGIN { FS = " *[|] *" }
/^#/ || NF < 4 { next }
markdown {
	if (!nr_rows++)
		print "| variable | default | meaning |\n|---|---|---|"
	printf "| `%s` | %s | %s |\n", $3 == "" ? $1 : $3, $2 == "" ? "" : "`" $2 "`", $4
	next
}
{
	# Break the meaning into lines of at most 100 characters that begin in the same column.
	line = sprintf("  %-17s", $3 == "" ? $1 "=" $2 : $3)
	nr_words = split($4, word, " ")
	for (i = 1; i <= nr_words; i++) {
		if (length(line) + 1 + length(word[i]) > 100) {
			print line
			line = sprintf("%19s", "")
		}
		line = line " " word[i]
	}
	print line
}
