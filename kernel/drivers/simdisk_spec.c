/*
 * The description of a modelled disk on the command line.
 *
 *	swap=sim:hdd                       the preset; empty at boot
 *	swap=sim:ssd,size=64M,latency=50   a preset with changes
 *	disk=sim:hdd,at=96M,size=32M       sda, and given again sdb: its image was loaded there before
 *	                                   boot
 *	disk=sim:hdd,...,cache=1M          sda has a cache that a power cut empties: powercut.c
 */
#include "drivers/simdisk.h"

#include "arch/machine.h"
#include "drivers/powercut.h"
#include "lib/string.h"
#include "mm/page.h"

#define CACHE_MIN (4u << 10)
#define CACHE_MAX (16u << 20)

static const struct {
	const char *name;
	struct disk_model model;
} presets[] = {
	{ "hdd", { .seek = 8000, .rotation = 4170, .transfer = 100 } }, /* 7200 rpm, 40 MB/s */
	{ "ssd", { .latency = 90, .transfer = 10 } },
	{ "ram", { 0 } },
};

static const struct {
	const char *name;
	u32 offset;
} numbers[] = {
	{ "seek", offsetof(struct disk_model, seek) },
	{ "rotation", offsetof(struct disk_model, rotation) },
	{ "transfer", offsetof(struct disk_model, transfer) },
	{ "latency", offsetof(struct disk_model, latency) },
};

static bool take_preset(struct disk_model *model, const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(presets); i++)
		if (!strcmp(name, presets[i].name)) {
			*model = presets[i].model;
			return true;
		}
	return false;
}

static const char *set_key(struct disk_model *model, const char *name, const char *value)
{
	if (!strcmp(name, "at"))
		return parse_size(value, &model->at) || model->at % PAGE_SIZE
			       ? "at is not the address of a page"
			       : NULL;
	if (!strcmp(name, "size"))
		return parse_size(value, &model->size) || model->size < SIMDISK_SIZE_MIN
			       ? "size is not a size of 64K or more"
			       : NULL;
	if (!strcmp(name, "cache"))
		return parse_size(value, &model->cache) || model->cache < CACHE_MIN ||
				       model->cache > CACHE_MAX
			       ? "cache is not a size from 4K to 16M"
			       : NULL;
	for (u32 i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(name, numbers[i].name))
			return parse_u32(value, (u32 *)((char *)model + numbers[i].offset))
				       ? "not a number of microseconds"
				       : NULL;
	return "unknown key";
}

/* Parses one word of the specification: a preset, or key=value. */
static const char *parse_word(struct disk_model *model, char *word, bool first)
{
	char *eq = strchr(word, '=');

	if (!eq)
		return first && take_preset(model, word) ? NULL : "unknown disk";
	if (first)
		*model = (struct disk_model){ 0 };
	*eq = '\0';
	return set_key(model, word, eq + 1);
}

const char *simdisk_parse(enum simdisk which, const char *spec)
{
	struct disk_model parsed = *simdisk_model(which), *model = &parsed;
	char copy[SIMDISK_SPEC_MAX], *word = copy, *comma;

	strlcpy(copy, spec + strlen(SIMDISK_PREFIX), sizeof(copy));
	for (bool first = true; word; first = false, word = comma) {
		const char *err;

		comma = strchr(word, ',');
		if (comma)
			*comma++ = '\0';
		err = parse_word(model, word, first);
		if (err)
			return err;
	}
	simdisk_set_model(which, &parsed);
	if (which == SIMDISK_SWAP)
		return model->at || model->cache ? "only disk= has at= and cache=" : NULL;
	if (which == SIMDISK_DATA_2 && model->cache)
		return "only the first disk has cache=";
	return model->at && model->size ? NULL : "at= and size= of its image are missing";
}

struct mem_range simdisk_image(enum simdisk which)
{
	const struct disk_model *model = simdisk_model(which);
	u64 end = model->at + model->size;

	if (model->cache)
		end = ALIGN_UP(end, (u64)PAGE_SIZE) + powercut_room(model->cache);
	return (struct mem_range){ model->at, end };
}
