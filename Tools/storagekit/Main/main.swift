internal import StorageKitTool

// A separate target, because tests can't depend on the module of an executable in a package that has macros.
CommandLineTool.main()
