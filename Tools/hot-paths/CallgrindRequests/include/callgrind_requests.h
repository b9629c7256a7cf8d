// The requests that a program makes of callgrind, without its header, which machines that build don't have. They do nothing outside of it.
#ifndef STORAGEKIT_CALLGRIND_REQUESTS_H
#define STORAGEKIT_CALLGRIND_REQUESTS_H

// Whether the program runs under Valgrind.
int callgrind_is_running(void);
// Counts the instructions of all threads from here on.
void callgrind_start(void);
// Counts no more.
void callgrind_stop(void);

#endif
