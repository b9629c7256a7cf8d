@StorageEntity
struct User {}
