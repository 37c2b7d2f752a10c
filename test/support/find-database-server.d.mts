/** Folder with `initdb` and `postgres`. */
export function findPostgres(): string;
/** Path of `mariadbd`. */
export function findMariadb(): string;
