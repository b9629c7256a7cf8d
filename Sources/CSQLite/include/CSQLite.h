// SQLite as the modules above need it, and the pieces of StorageKit that must be C: change capture, and the calls
// that Swift can't make because they are variadic or macros.
#ifndef STORAGEKIT_CSQLITE_H
#define STORAGEKIT_CSQLITE_H

// The declarations of the pre-update hook and of sessions are hidden unless asked for; Debian's library has both.
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
