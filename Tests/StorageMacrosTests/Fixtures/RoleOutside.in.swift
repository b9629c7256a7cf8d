struct A {
    @StorageJSON var settings: [String: Int]
}
