/* Copies between pages of files and memory. A copy from or to user memory may sleep. */
#include "internal.h"
#include "lib/string.h"

#define BOUNCE 512u

int high_to_user(struct page *page, u32 off, char *user, u32 n)
{
	char bounce[BOUNCE];

	for (u32 done = 0, len; done < n; done += len) {
		len = MIN(n - done, BOUNCE);
		page_read(page, off + done, bounce, len);
		if (copy_to_user(user + done, bounce, len))
			return -EFAULT;
	}
	return 0;
}

int high_from_user(struct page *page, u32 off, const char *user, u32 n)
{
	char bounce[BOUNCE];

	for (u32 done = 0, len; done < n; done += len) {
		len = MIN(n - done, BOUNCE);
		if (copy_from_user(bounce, user + done, len))
			return -EFAULT;
		page_write(page, off + done, bounce, len);
	}
	return 0;
}

void page_read(struct page *page, u32 off, void *to, u32 n)
{
	char *va = kmap(page);

	memcpy(to, va + off, n);
	kunmap(va);
}

void page_write(struct page *page, u32 off, const void *from, u32 n)
{
	char *va = kmap(page);

	memcpy(va + off, from, n);
	kunmap(va);
}

void page_zero(struct page *page, u32 off, u32 n)
{
	char *va = kmap(page);

	memset(va + off, 0, n);
	kunmap(va);
}
