// One import for a view: its wrappers, and what they are given.
@_exported public import StorageSync
