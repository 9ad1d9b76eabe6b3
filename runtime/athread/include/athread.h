/* The management core's side of the Athread interface, as the vendor names it, for the emulator of this folder. */
#ifndef ATHREAD_H
#define ATHREAD_H

#include <stddef.h>

/* Tells a program that it is compiled for the emulator. */
#define ATHREAD_EMULATOR 1

#ifdef __cplusplus
extern "C" {
#endif

/* Powers the computing cores up; 0 if that worked. May be called again. */
int athread_init(void);
/* How many computing cores the next spawn uses: the first `n` of 64. */
int athread_set_num_threads(int n);
int athread_get_num_threads(void);
int athread_get_max_threads(void);
/* Starts `function(argument)` on the computing cores; `athread_spawn(kernel, argument)` names it as the slave file does. */
int __real_athread_spawn(void *function, void *argument);
/* Waits for the cores. */
int athread_join(void);
int athread_halt(void);

#define SLAVE_FUN(name) slave_##name
#define athread_spawn(name, argument) __real_athread_spawn((void *)slave_##name, (void *)(argument))

/* Of SW26010Pro. */
#define CRTS_init() athread_init()
#define CRTS_athread_spawn athread_spawn
#define CRTS_athread_join athread_join

/* What only the emulator knows; a program for the real machine defines these as nothing (README.md shows how). */

/* An array of main memory that kernels may reach: its name in messages, where it begins, how long it is, and the size of an element,
 * which is the unit of race detection (0: 4 bytes). Blocks from malloc and its kin are known without it, as are their bounds. */
void emulated_array(const char *name, const void *first, size_t bytes, size_t element);
/* What is in it is only of this program's making and not a result, so that no program has to move it: it does not count as touched. */
void emulated_workspace(const void *first);
/* The array is gone: before memory on a stack or from elsewhere is used for something else. */
void emulated_forget(const void *first);

#ifdef __cplusplus
}
#endif
#endif
