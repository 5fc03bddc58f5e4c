/*
 * server: many short requests, each of which looks up a record.
 *
 * A request hashes its key, reads one page in each of three parts of the index, then the two pages
 * of one record; every fourth request writes to the record. All records are equally likely, so most
 * are cold. The index is small, and all of it is used all the time. The result is not the time of
 * the last request but the duration of each one: a request that finds the index evicted waits for
 * the disk several times.
 */
#include "lab.h"

#define HELP                                                                                       \
	"usage: server INDEX_KB RECORDS_KB REQUESTS [--seed N]\n"                                  \
	"Fill an index and records, then serve REQUESTS requests for random records and\n"         \
	"check them. Prints how long a request took: median, 90 and 99 in 100, worst.\n"

enum { DEFAULT_SEED = 123456789, PARTS = 3, RECORD_PAGES = 2, UPDATE_EVERY = 4 };

static uint32_t nr_index, nr_records;
static void *index_pages, *records;
static uint16_t *updates; /* by record: number of updates */

static uint32_t word_of_record(uint32_t record, uint32_t page)
{
	return lab_word(record * RECORD_PAGES + page) + updates[record];
}

static void put_record(uint32_t record)
{
	for (uint32_t page = 0; page < RECORD_PAGES; page++)
		*lab_at(records, record * RECORD_PAGES + page, 0) = word_of_record(record, page);
}

static void fill(void)
{
	for (uint32_t k = 0; k < nr_index; k++)
		*lab_at(index_pages, k, 0) = lab_word(k);
	for (uint32_t record = 0; record < nr_records; record++)
		put_record(record);
}

/*
 * Returns the number of wrong words. The record determines which pages of the index are read, by a
 * hash without the low bits of lab_word, which would only be those of the record's number.
 */
static uint32_t serve(uint32_t key, bool update)
{
	uint32_t record = key % nr_records, part_pages = nr_index / PARTS, corrupt = 0;

	for (uint32_t part = 0; part < PARTS; part++) {
		uint32_t k = part * part_pages + lab_word(record + part) / 64 % part_pages;

		corrupt += *lab_at(index_pages, k, 0) != lab_word(k);
	}
	for (uint32_t page = 0; page < RECORD_PAGES; page++)
		corrupt += *lab_at(records, record * RECORD_PAGES + page, 0) !=
			   word_of_record(record, page);
	if (update) {
		updates[record]++;
		put_record(record);
	}
	return corrupt;
}

int main(int argc, char **argv)
{
	uint64_t *request_ns, start_ns, filled_ns, end_ns, t;
	uint32_t random_state, requests, corrupt = 0;

	help_if_asked(argc, argv, HELP);
	random_state = lab_seed(&argc, argv, DEFAULT_SEED);
	lab_operands(argc, argv, 3, 3, HELP);
	nr_index = lab_pages(argv, 1, "INDEX_KB");
	nr_records = lab_pages(argv, 2, "RECORDS_KB") / RECORD_PAGES;
	requests = parse_number(argv[3], "REQUESTS", 1, 1000000);
	if (nr_index < PARTS || !nr_records) {
		warn_user("%d pages of index and %d of records are the least", PARTS, RECORD_PAGES);
		return 2;
	}
	index_pages = lab_map(nr_index);
	records = lab_map(nr_records * RECORD_PAGES);
	updates = lab_map(nr_records / (2 * WORDS_PER_PAGE) + 1);
	request_ns = lab_times(requests);

	start_ns = lab_now_ns();
	fill();
	filled_ns = lab_now_ns();
	for (uint32_t r = 0; r < requests; r++) {
		t = lab_now_ns();
		corrupt += serve(lab_random(&random_state), r % UPDATE_EVERY == 0);
		request_ns[r] = lab_now_ns() - t;
	}
	end_ns = lab_now_ns();
	lab_spread("server_request", request_ns, requests, 1000, "us");
	printf("R server index_kb=%u records_kb=%u requests=%u fill_us=%llu run_us=%llu corrupt=%u\n",
	       nr_index * PAGE_KB, nr_records * RECORD_PAGES * PAGE_KB, requests,
	       lab_us(filled_ns - start_ns), lab_us(end_ns - filled_ns), corrupt);
	return corrupt != 0;
}
