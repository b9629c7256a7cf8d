internal import StorageKitTool

// A target of its own, because tests can't depend on the module of an executable in a package that has macros.
await CommandLineTool.main()
