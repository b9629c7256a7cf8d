// swift-format-ignore-file

struct User {}
