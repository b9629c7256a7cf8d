// A view needs one import only: for the wrappers, and for the types of their arguments.
@_exported public import StorageSync
