package scheduling

// For tests that edit shifts with a package that imports this one.
var Weekly, Links, Lines, Store, With = weekly, links, lines, store, with
