internal import SwiftSyntax

extension EntityDeclarationReader {
    /// Reports names that can't be columns, or that conflict with each other.
    mutating func checkColumns(_ properties: [StoredProperty]) {
        var seen: [String: String] = [:]
        for property in properties {
            let folded = property.column.lowercased()
            if let reason = reservation(of: property) {
                report(
                    "column-reserved", at: property.name, "Rename '\(property.column)': \(reason).",
                    fixIts: [.rename(property.name)])
            } else if property.column.utf8.count > Self.maximumNameBytes {
                report(
                    "name-too-long", at: property.name,
                    """
                    Shorten this name: it has \(property.column.utf8.count) bytes, a column's name at most \
                    \(Self.maximumNameBytes).
                    """, fixIts: [.rename(property.name)])
            } else if let earlier = seen[folded] {
                report(
                    "column-duplicate", at: property.name,
                    "Rename '\(property.column)': for SQLite it is the same column as '\(earlier)'.",
                    fixIts: [.rename(property.name)])
            }
            seen[folded] = seen[folded] ?? property.column
        }
    }

    private func reservation(of property: StoredProperty) -> String? {
        switch property.column.lowercased() {
        case "_position": "StorageKit keeps the position of a row's last event in that column"
        case "updatedat" where property.column != EntityDeclaration.updatedAt:
            "for SQLite it is the same column as 'updatedAt', which StorageKit adds"
        case _ where property.column == "asEntity": "the record has a function of that name"
        default: nil
        }
    }
}
