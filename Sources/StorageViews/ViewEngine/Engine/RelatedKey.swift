internal import CSQLite
internal import StorageCore
internal import StorageEntities
internal import StorageLog
internal import StorageRouting

/// The key of a value that related rows are found by: equal bytes if SQLite considers the values equal.
///
/// Isolation: not `Sendable`; it belongs to a node.
struct RelatedKey {
    private let reading: ColumnReading
    /// Whether equal keys also mean equal values in the opposite direction, when rows are looked up by a related row's
    /// value.
    let isKnown: Bool
    private let buffer = KeyBuffer()

    /// - Parameters:
    ///   - layout: The layout of the related rows.
    ///   - compared: The column that they are compared with, if rows are looked up by a related row's value. If it
    ///     compares differently, SQLite finds different rows in the two directions.
    init(_ relation: Relation, in layout: RowLayout, comparedWith compared: RowLayout.Column? = nil) throws {
        let index = try layout.index(named: relation.otherColumn)
        let column = layout.columns[index]
        let conversion: ColumnReading.Conversion =
            column.affinity.isNumeric ? .toNumber : column.affinity == .text ? .toText : .none
        isKnown = column.collation != nil && compared.map { $0.comparesLike(column) } ?? true
        reading = ColumnReading(
            columnIndex: index, conversion: conversion, collation: column.collation ?? .binary)
    }

    /// The key of a value; nil for NULL, to which nothing is related.
    func key(of value: StorageValue) -> [UInt8]? {
        let memory = ValueMemory()
        return withExtendedLifetime(memory) { key(of: memory.keep(value)) }
    }

    /// The key that a changed row has, or had.
    ///
    /// - Throws: ``StaleNode`` if it isn't known.
    func key(of change: ChangedRow, _ image: RowKeys.Image) throws -> [UInt8]? {
        guard isKnown, let value = change.value(reading.columnIndex, image) else { throw StaleNode() }
        return key(of: value)
    }

    /// The value that a changed row has, or had.
    ///
    /// - Throws: ``StaleNode`` if it isn't known.
    func value(of change: ChangedRow, _ image: RowKeys.Image) throws -> StorageValue {
        guard let value = change.value(reading.columnIndex, image) else { throw StaleNode() }
        return value.value()
    }

    private func key(of value: storage_value) -> [UInt8]? {
        buffer.removeAll()
        return ComparisonKey.append(value, reading, to: buffer) ? Array(buffer.bytes(from: 0)) : nil
    }
}

extension RowLayout.Column {
    /// Whether two columns have the same equal values.
    fileprivate func comparesLike(_ other: RowLayout.Column) -> Bool {
        collation == other.collation && (affinity == other.affinity || affinity.isNumeric && other.affinity.isNumeric)
    }
}
