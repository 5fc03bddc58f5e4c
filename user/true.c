/* true: does nothing and succeeds. */
#include "lib.h"

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, "usage: true\nDo nothing; exit status 0.\n");
	return 0;
}
