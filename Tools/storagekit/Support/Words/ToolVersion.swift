/// The version of this tool.
enum ToolVersion {
    static let text = "0.1.0"
}
