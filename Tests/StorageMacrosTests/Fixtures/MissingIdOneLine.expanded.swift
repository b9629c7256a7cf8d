// swift-format-ignore-file
struct User { var name: String 
}
