// What browsers have and Debian's TypeScript 4.8 does not know.

interface Array<T> {
    findLast(predicate: (value: T, index: number) => unknown): T | undefined;
}

interface Document {
    caretPositionFromPoint?(x: number, y: number): { offsetNode: Node; offset: number } | null;
}
