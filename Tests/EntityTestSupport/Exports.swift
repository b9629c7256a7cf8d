// The entities' generated code needs it at the level of the package. An import of each file's own would be called unused, because the
// compiler doesn't count what only macros use.
@_exported public import StorageKit
