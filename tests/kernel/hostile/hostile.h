/* What the files of `hostile` share. main.c says what it does. */
#ifndef HOSTILE_H
#define HOSTILE_H

#include "lib.h"

#define DIR_PATH "/mnt"

/* mutate.c */

/* Random numbers that follow from the image's number alone. */
void random_start(uint32_t seed);
uint32_t below(uint32_t n); /* 0 to n - 1; n 0: 0 */

/* An image of `size` bytes, which is sound: what is changed later is an image that has come of it. */
void understand(uint8_t *image, uint32_t size);
/* Changes some bytes of such an image. */
void mutate(uint8_t *image);

/* use.c */

/* Looks at everything below DIR_PATH, then changes it, in every way that there is. */
void use_files(void);

/* Ends the program, and says which image did it. */
__attribute__((format(printf, 1, 2), noreturn)) void fail(const char *format, ...);

#endif
