import ArgumentParser

/// `storagekit schema`: tables and columns, current and past, and their changes.
struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Show the schema, its history, or its difference between two points.",
        discussion: """
              storagekit schema -s app.sqlite
              storagekit schema users -s app.sqlite --at 2024-05-01
              storagekit schema log -s app.sqlite users
              storagekit schema diff -s app.sqlite tag:release-3 head
            """,
        subcommands: [SchemaTablesCommand.self, SchemaLogCommand.self, SchemaDiffCommand.self],
        defaultSubcommand: SchemaTablesCommand.self)
}
