internal import SwiftDiagnostics
internal import SwiftParser
internal import SwiftSyntax

extension VariableDeclSyntax {
    /// The attributes that give a property its role.
    var roleAttributes: [AttributeSyntax] { attributes.roles }

    /// The `#if` around such an attribute.
    var conditionalRole: IfConfigDeclSyntax? {
        attributes.lazy.compactMap { $0.as(IfConfigDeclSyntax.self) }.first { $0.holdsRole }
    }
}

extension AttributeListSyntax {
    fileprivate var roles: [AttributeSyntax] {
        compactMap { $0.as(AttributeSyntax.self) }.filter { Role(rawValue: $0.bareName) != nil }
    }
}

extension IfConfigDeclSyntax {
    fileprivate var holdsRole: Bool {
        clauses.contains { clause in
            guard let attributes = clause.elements?.as(AttributeListSyntax.self) else { return false }
            return !attributes.roles.isEmpty
                || attributes.contains { $0.as(IfConfigDeclSyntax.self)?.holdsRole ?? false }
        }
    }
}

extension AttributeSyntax {
    /// The attribute's name without a module prefix.
    var bareName: String {
        if let member = attributeName.as(MemberTypeSyntax.self) { return member.name.text }
        return attributeName.trimmedDescription
    }
}

enum Role: String {
    case json = "StorageJSON"
    case embedded = "StorageEmbedded"
    case hasMany = "StorageHasMany"
    case belongsTo = "StorageBelongsTo"
}

extension EntityDeclarationReader {
    /// The role of a property; nil if its attribute is used wrongly, which is reported.
    mutating func role(
        of variable: VariableDeclSyntax, name: String, type: TypeSyntax, _ qualifier: TypeQualifier
    ) -> PropertyRole? {
        if let conditional = variable.conditionalRole {
            report(
                "conditional-role", at: conditional.clauses.first?.poundKeyword ?? conditional.poundEndif,
                "Move the attribute out of '#if': a property is stored the same way in every build.",
                fixIts: conditional.clauses.first?.elements.map {
                    [MacroFixIt.replaceNode(conditional, with: $0.trimmedDescription, id: "unwrap", "Remove the '#if'")]
                } ?? [])
            return nil
        }
        let attributes = variable.roleAttributes
        guard let attribute = attributes.first, let role = Role(rawValue: attribute.bareName) else { return .column }
        if attributes.count > 1 {
            report(
                "role-conflict", at: attributes[1],
                "Remove one of the two: a property is stored in one way only.",
                fixIts: [
                    MacroFixIt.remove(attributes[1], id: "remove-role", "Remove '@\(attributes[1].bareName)'")
                ])
            return nil
        }
        if name == "id" {
            report(
                "role-id", at: attribute, "Remove '@\(attribute.bareName)': the id is a column of its own.",
                fixIts: [MacroFixIt.remove(attribute, id: "remove-role", "Remove '@\(attribute.bareName)'")])
            return nil
        }
        switch role {
        case .json: return .json
        case .embedded: return literal("prefix", of: attribute, default: name + "_").map { .embedded(prefix: $0) }
        case .hasMany: return hasMany(attribute, type)
        case .belongsTo: return belongsTo(attribute, name: name, type: type, qualifier)
        }
    }

    private mutating func hasMany(_ attribute: AttributeSyntax, _ type: TypeSyntax) -> PropertyRole? {
        guard type.isArray else {
            report(
                "has-many-array", at: type,
                "Make it an array, such as '[\(type.trimmedDescription)]': many rows may refer to one.",
                fixIts: [
                    MacroFixIt.replaceNode(
                        type, with: "[\(type.trimmedDescription)]", id: "to-array", "Make it an array")
                ])
            return nil
        }
        return literal("foreignKey", of: attribute, default: nil).map { .hasMany(foreignKey: $0) }
    }

    private mutating func belongsTo(
        _ attribute: AttributeSyntax, name: String, type: TypeSyntax, _ qualifier: TypeQualifier
    ) -> PropertyRole? {
        guard let parent = type.wrappedInOptional else {
            report(
                "belongs-to-optional", at: type,
                "Make it optional: the row that it refers to is loaded by a call of its own.",
                fixIts: [
                    MacroFixIt.replaceNode(
                        type, with: "\(type.trimmedDescription)?", id: "to-optional", "Make it optional")
                ])
            return nil
        }
        guard let key = literal("foreignKey", of: attribute, default: name + "Id") else { return nil }
        let expression = argument("onDelete", of: attribute)?.expression
        let rule = expression?.is(NilLiteralExprSyntax.self) == true ? nil : expression?.trimmedDescription
        return .belongsTo(foreignKey: key, parent: qualifier.qualified(parent).description, deleteRule: rule)
    }

    private func argument(_ label: String, of attribute: AttributeSyntax) -> LabeledExprSyntax? {
        attribute.arguments?.as(LabeledExprListSyntax.self)?.first { $0.label?.text == label }
    }

    /// The text of an argument that must be a literal, or its default if it is missing.
    private mutating func literal(_ label: String, of attribute: AttributeSyntax, default usual: String?) -> String? {
        guard let argument = argument(label, of: attribute) else {
            // The compiler reports arguments that are missing.
            return usual
        }
        if argument.expression.is(NilLiteralExprSyntax.self), let usual { return usual }
        if let text = argument.expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue { return text }
        report(
            "role-literal", at: argument.expression,
            "Write \(label) as a plain string literal: a macro sees the source, not values.",
            fixIts: [
                MacroFixIt.replaceNode(
                    argument.expression, with: "\"<#\(label)#>\"", id: "to-literal", "Replace it by a literal")
            ])
        return nil
    }

    /// Reports properties that refer to unknown columns, or whose columns conflict.
    mutating func checkRoles(_ properties: [StoredProperty]) {
        let columns = Set(properties.filter { $0.role == .column }.map(\.column))
        // Conflicts between columns of two different embedded types are checked when the store is opened.
        var prefixes: [String: String] = [:]
        for property in properties {
            switch property.role {
            case .belongsTo(let key, _, _) where !columns.contains(key):
                report(
                    "foreign-key-missing", at: property.name,
                    "Add 'var \(key): String', or name the property that holds the id: '\(property.column)' has no column of its own.",
                    fixIts: [
                        MacroFixIt.insert(
                            "var \(key): String\n    ", at: property.declarationStart, in: property.name,
                            id: "add-foreign-key", "Add 'var \(key): String'")
                    ])
            case .embedded(let prefix):
                let columns = "\(prefix.lowercased()) \(property.embeddedType)"
                if let other = prefixes[columns] { reportPrefix(of: property, like: other) }
                prefixes[columns] = property.column
            default: break
            }
        }
    }

    private mutating func reportPrefix(of property: StoredProperty, like other: String) {
        let attribute = property.name.enclosing(VariableDeclSyntax.self)?.roleAttributes.first
        let given = attribute.flatMap { argument("prefix", of: $0)?.expression }
        let prefix = "\"\(property.column)_\""
        report(
            "prefix-duplicate", at: property.name,
            "Give '\(property.column)' another prefix: its columns would be those of '\(other)'.",
            fixIts: given.map {
                [MacroFixIt.replaceNode($0, with: prefix, id: "to-own-prefix", "Change the prefix to \(prefix)")]
            } ?? [])
    }
}
