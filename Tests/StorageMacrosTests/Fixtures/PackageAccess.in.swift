@StorageEntity
package struct User {
    package var id: String
    public var name: String
}
