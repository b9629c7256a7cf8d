/// A name as it stands in SQL text: in double quotes, quotes inside doubled.
package func quoted(_ name: String) -> String {
    "\"" + name.replacing("\"", with: "\"\"") + "\""
}
