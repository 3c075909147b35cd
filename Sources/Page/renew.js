/**
 * Changes an element into another one, and leaves the parts that are the same in both. So the focus stays, a video continues to
 * play, and pictures are not loaded again.
 *
 * @module renew
 */

/** The attribute of the message that the reader has jumped to. Redrawing the message must not end its animation. */
const HIGHLIGHT = "data-found";

/**
 * The identity that matches children of the two elements: a reaction's key, or the part of the row.
 *
 * @param {Node} node
 */
function partOf(node) {
    if (!(node instanceof HTMLElement)) return node.nodeName;
    return node.dataset.reaction ?? node.classList[0] ?? node.nodeName;
}

/** @param {Node} node */
const isTransient = (node) => node instanceof HTMLElement && "transient" in node.dataset;

/**
 * Changes `old` into `fresh`. Elements with `data-transient` (an open menu) were added later, and stay.
 *
 * @param {HTMLElement} old
 * @param {HTMLElement} fresh Its children may be moved to `old`.
 * @returns {HTMLElement} The element to show: `old`, unless the kinds of element differ.
 */
export function renew(old, fresh) {
    return /** @type {HTMLElement} */ (renewNode(old, fresh));
}

/**
 * @param {ChildNode} old
 * @param {ChildNode} fresh
 * @returns {ChildNode}
 */
function renewNode(old, fresh) {
    if (old.isEqualNode(fresh)) return old;
    if (old.nodeName !== fresh.nodeName || !(old instanceof Element) || !(fresh instanceof Element)) {
        old.replaceWith(fresh);
        return fresh;
    }
    for (const { name } of [...old.attributes]) {
        if (!fresh.hasAttribute(name) && name !== HIGHLIGHT) old.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    const kept = [...old.childNodes].filter((child) => !isTransient(child));
    /** @type {ChildNode | null} */
    let next = kept[0] ?? old.firstChild;
    for (const child of [...fresh.childNodes]) {
        const index = kept.findIndex((node) => partOf(node) === partOf(child));
        if (index < 0) {
            old.insertBefore(child, next);
            continue;
        }
        // Nodes before its counterpart have no counterpart.
        for (const gone of kept.splice(0, index)) gone.remove();
        const node = renewNode(/** @type {ChildNode} */ (kept.shift()), child);
        next = node.nextSibling;
    }
    for (const gone of kept) gone.remove();
    return old;
}
