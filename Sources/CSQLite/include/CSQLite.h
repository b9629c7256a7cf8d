// SQLite as the modules above need it, and the parts of StorageKit that must be in C: change capture, and calls that are variadic
// or macros, which Swift can't make.
#ifndef STORAGEKIT_CSQLITE_H
#define STORAGEKIT_CSQLITE_H

// The declarations of the pre-update hook and of sessions are hidden by default; Debian's library has both.
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#define SQLITE_ENABLE_SESSION 1
#include <sqlite3.h>

#include "capture.h"
#include "checkpoints.h"
#include "connection_settings.h"
#include "doorbell.h"
#include "large_memory.h"
#include "rows.h"
#include "statement_binding.h"

#endif
