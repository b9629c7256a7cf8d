// swift-format-ignore-file
enum Shop {
    private struct User {
        var id: String
    }

    private enum Back {
        struct Order {
            var id: String
        }
    }
}
