enum Shop {
    @StorageEntity
    private struct User {
        var id: String
    }

    private enum Back {
        @StorageEntity
        struct Order {
            var id: String
        }
    }
}
