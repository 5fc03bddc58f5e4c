/* Shared by the files of `hostile`; see main.c. */
#ifndef HOSTILE_H
#define HOSTILE_H

#include "lib.h"

#define DIR_PATH "/mnt"

/* mutate.c */

/* Random numbers that depend only on the image's number. */
void random_start(uint32_t seed);
uint32_t below(uint32_t n); /* 0 to n - 1; n 0: 0 */

/* Analyses an undamaged image of `size` bytes; images to change later must be derived from it. */
void understand(uint8_t *image, uint32_t size);
/* Changes some bytes of such an image. */
void mutate(uint8_t *image);

/* use.c */

/* Reads everything below DIR_PATH, then changes it, in all possible ways. */
void use_files(void);

/* Ends the program, and reports which image caused it. */
__attribute__((format(printf, 1, 2), noreturn)) void fail(const char *format, ...);

#endif
