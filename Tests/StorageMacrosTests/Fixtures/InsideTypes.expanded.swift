// swift-format-ignore-file
enum Shop {
    struct Back {
        struct Order {
            var id: String
        }
        nonisolated struct OrderRecord {
            typealias E = Order

            static let databaseTableName = "orders"

            static var schemaColumns: [StorageCore.ColumnSchema] {
                [
                    StorageCore.ColumnSchema("id", String.self, primaryKey: true),
                    StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
                ]
            }

            struct Columns: Swift.Sendable {
                let id = StorageCore.StorageColumn<String>("id")
                let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
            }

            static let columns = Columns()

            enum ColumnName: Swift.String, Swift.Sendable {
                case id
                case updatedAt
            }

            var id: String
            var updatedAt: Foundation.Date

            init(id: String, updatedAt: Foundation.Date) {
                self.id = id
                self.updatedAt = updatedAt
            }

            func asEntity() -> Order {
                Order(id: self.id)
            }

            static func from(_ entity: Order, now: Foundation.Date) -> OrderRecord {
                OrderRecord(id: entity.id, updatedAt: now)
            }

            func write(to row: StorageLog.RowWriter) throws {
                try row.write(self.id, at: 1)
                try row.write(self.updatedAt, at: 2)
            }

            init(reading row: StorageLog.RowReader) throws {
                self.id = try row.read(String.self, at: 0)
                self.updatedAt = try row.read(Foundation.Date.self, at: 1)
            }

            static func key(of id: String) -> StorageCore.StorageValue {
                StorageLog._RowKey.value(of: id)
            }

            static func entities(reading rows: StorageLog.StatementRows) throws -> [Order] {
                let row = rows.row
                var entities: [Order] = []
                while try rows.next() {
                    entities.append(Order(id: try row.read(String.self, at: 0)))
                }
                return entities
            }

            init(row: GRDB.Row) throws {
                self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
                self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
            }

            func encode(to container: inout GRDB.PersistenceContainer) throws {
                try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
                try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
            }
        }
    }
}

extension Shop.Back {
    fileprivate struct Line {
        var id: String
    }
    fileprivate nonisolated struct LineRecord {
        fileprivate typealias E = Line

        fileprivate static let databaseTableName = "lines"

        fileprivate static var schemaColumns: [StorageCore.ColumnSchema] {
            [
                StorageCore.ColumnSchema("id", String.self, primaryKey: true),
                StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
            ]
        }

        fileprivate struct Columns: Swift.Sendable {
            fileprivate let id = StorageCore.StorageColumn<String>("id")
            fileprivate let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
        }

        fileprivate static let columns = Columns()

        fileprivate enum ColumnName: Swift.String, Swift.Sendable {
            case id
            case updatedAt
        }

        fileprivate var id: String
        fileprivate var updatedAt: Foundation.Date

        fileprivate init(id: String, updatedAt: Foundation.Date) {
            self.id = id
            self.updatedAt = updatedAt
        }

        fileprivate func asEntity() -> Line {
            Line(id: self.id)
        }

        fileprivate static func from(_ entity: Line, now: Foundation.Date) -> LineRecord {
            LineRecord(id: entity.id, updatedAt: now)
        }

        fileprivate func write(to row: StorageLog.RowWriter) throws {
            try row.write(self.id, at: 1)
            try row.write(self.updatedAt, at: 2)
        }

        fileprivate init(reading row: StorageLog.RowReader) throws {
            self.id = try row.read(String.self, at: 0)
            self.updatedAt = try row.read(Foundation.Date.self, at: 1)
        }

        fileprivate static func key(of id: String) -> StorageCore.StorageValue {
            StorageLog._RowKey.value(of: id)
        }

        fileprivate static func entities(reading rows: StorageLog.StatementRows) throws -> [Line] {
            let row = rows.row
            var entities: [Line] = []
            while try rows.next() {
                entities.append(Line(id: try row.read(String.self, at: 0)))
            }
            return entities
        }

        fileprivate init(row: GRDB.Row) throws {
            self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
            self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
        }

        fileprivate func encode(to container: inout GRDB.PersistenceContainer) throws {
            try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
            try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
        }
    }
}

public extension Shop {
    struct Customer {
        public var id: String
    }
    nonisolated struct CustomerRecord {
        public typealias E = Customer

        public static let databaseTableName = "customers"

        public static var schemaColumns: [StorageCore.ColumnSchema] {
            [
                StorageCore.ColumnSchema("id", String.self, primaryKey: true),
                StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
            ]
        }

        public struct Columns: Swift.Sendable {
            public let id = StorageCore.StorageColumn<String>("id")
            public let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
        }

        public static let columns = Columns()

        public enum ColumnName: Swift.String, Swift.Sendable {
            case id
            case updatedAt
        }

        public var id: String
        public var updatedAt: Foundation.Date

        public init(id: String, updatedAt: Foundation.Date) {
            self.id = id
            self.updatedAt = updatedAt
        }

        public func asEntity() -> Customer {
            Customer(id: self.id)
        }

        public static func from(_ entity: Customer, now: Foundation.Date) -> CustomerRecord {
            CustomerRecord(id: entity.id, updatedAt: now)
        }

        public func write(to row: StorageLog.RowWriter) throws {
            try row.write(self.id, at: 1)
            try row.write(self.updatedAt, at: 2)
        }

        public init(reading row: StorageLog.RowReader) throws {
            self.id = try row.read(String.self, at: 0)
            self.updatedAt = try row.read(Foundation.Date.self, at: 1)
        }

        public static func key(of id: String) -> StorageCore.StorageValue {
            StorageLog._RowKey.value(of: id)
        }

        public static func entities(reading rows: StorageLog.StatementRows) throws -> [Customer] {
            let row = rows.row
            var entities: [Customer] = []
            while try rows.next() {
                entities.append(Customer(id: try row.read(String.self, at: 0)))
            }
            return entities
        }

        public init(row: GRDB.Row) throws {
            self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
            self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
        }

        public func encode(to container: inout GRDB.PersistenceContainer) throws {
            try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
            try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
        }
    }
}

nonisolated extension OrderRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension Shop.Back.Order: StorageEntities.RegisteredEntity {
    typealias Record = Shop.Back.OrderRecord
}

nonisolated extension LineRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension Shop.Back.Line: StorageEntities.RegisteredEntity {
    fileprivate typealias Record = Shop.Back.LineRecord
}

nonisolated extension CustomerRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension Shop.Customer: StorageEntities.RegisteredEntity {
    public typealias Record = Shop.CustomerRecord
}
