/* frames_files=1: the cap on user frames (frames.c) counts pages of files on disks, too. */
#include "lib/param.h"
#include "mm/frames.h"

bool frames_files;
PARAM_BOOL("frames_files", frames_files, "the cap counts pages of files on disks, too", AT_BOOT);

static bool charge(gfp_t gfp)
{
	if (!(gfp & GFP_WAIT))
		return frames_try_charge();
	frames_charge();
	return true;
}

struct page *frames_alloc_file(gfp_t gfp)
{
	struct page *page;

	if (!charge(gfp))
		return NULL;
	page = alloc_page(gfp);
	if (page)
		page_set(page, PG_capped);
	else
		frames_uncharge();
	return page;
}
