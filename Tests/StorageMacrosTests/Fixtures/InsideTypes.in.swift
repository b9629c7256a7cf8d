enum Shop {
    struct Back {
        @StorageEntity
        struct Order {
            var id: String
        }
    }
}

extension Shop.Back {
    @StorageEntity
    fileprivate struct Line {
        var id: String
    }
}

public extension Shop {
    @StorageEntity
    struct Customer {
        public var id: String
    }
}
