/* false: does nothing and fails. */
#include "lib.h"

int main(int argc, char **argv)
{
	help_if_asked(argc, argv, "usage: false\nDo nothing; exit status 1.\n");
	return 1;
}
