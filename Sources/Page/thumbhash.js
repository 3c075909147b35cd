/**
 * ThumbHash: a picture in some 25 bytes, drawn while the real one loads (https://evanw.github.io/thumbhash, public domain).
 *
 * A hash holds the coefficients of a cosine transform of luminance (L), two differences of color (P, Q) and perhaps opacity (A).
 *
 * @module thumbhash
 */

/**
 * Draws a hash.
 *
 * @param {string} text The hash in base64.
 * @returns {HTMLCanvasElement | null} Null if the text is no hash.
 */
export function thumbhashCanvas(text) {
    /** @type {Uint8Array} */
    let hash;
    try {
        hash = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    } catch {
        return null;
    }
    if (hash.length < 5) return null;
    const header24 = hash[0] | (hash[1] << 8) | (hash[2] << 16);
    const header16 = hash[3] | (hash[4] << 8);
    const hasAlpha = header24 >> 23 === 1;
    const isLandscape = header16 >> 15 === 1;
    const lightDC = (header24 & 63) / 63;
    const pDC = ((header24 >> 6) & 63) / 31.5 - 1;
    const qDC = ((header24 >> 12) & 63) / 31.5 - 1;
    const lightScale = ((header24 >> 18) & 31) / 31;
    const pScale = ((header16 >> 3) & 63) / 63;
    const qScale = ((header16 >> 9) & 63) / 63;
    const [long, short] = [hasAlpha ? 5 : 7, header16 & 7];
    const columns = Math.max(3, isLandscape ? long : short);
    const rows = Math.max(3, isLandscape ? short : long);
    if (hasAlpha && hash.length < 6) return null;
    const alphaDC = hasAlpha ? (hash[5] & 15) / 15 : 1;
    const alphaScale = hasAlpha ? (hash[5] >> 4) / 15 : 0;

    let nibble = 2 * (hasAlpha ? 6 : 5);
    const coefficients = (/** @type {number} */ width, /** @type {number} */ height, /** @type {number} */ scale) => {
        const values = [];
        for (let y = 0; y < height; y++) {
            for (let x = y ? 0 : 1; x * height < width * (height - y); x++, nibble++) {
                const byte = hash[nibble >> 1] ?? 0;
                values.push((((nibble & 1 ? byte >> 4 : byte) & 15) / 7.5 - 1) * scale);
            }
        }
        return values;
    };
    const light = coefficients(columns, rows, lightScale);
    // Colors are slightly amplified, to compensate for the rounding.
    const p = coefficients(3, 3, pScale * 1.25);
    const q = coefficients(3, 3, qScale * 1.25);
    const alpha = hasAlpha ? coefficients(5, 5, alphaScale) : [];

    const ratio = columns / rows;
    const width = Math.round(ratio > 1 ? 32 : 32 * ratio);
    const height = Math.round(ratio > 1 ? 32 / ratio : 32);
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width, height];
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const image = context.createImageData(width, height);
    const waves = (/** @type {number} */ count, /** @type {number} */ place, /** @type {number} */ size) =>
        Array.from({ length: count }, (_, wave) => Math.cos((Math.PI / size) * (place + 0.5) * wave));
    /** @type {(values: number[], dc: number, limitX: number, limitY: number, wavesX: number[], wavesY: number[]) => number} */
    const sum = (values, dc, limitX, limitY, wavesX, wavesY) => {
        let [total, index] = [dc, 0];
        for (let y = 0; y < limitY; y++) {
            for (let x = y ? 0 : 1; x * limitY < limitX * (limitY - y); x++) total += values[index++] * wavesX[x] * wavesY[y] * 2;
        }
        return total;
    };
    for (let y = 0, index = 0; y < height; y++) {
        const wavesY = waves(Math.max(rows, hasAlpha ? 5 : 3), y, height);
        for (let x = 0; x < width; x++, index += 4) {
            const wavesX = waves(Math.max(columns, hasAlpha ? 5 : 3), x, width);
            const l = sum(light, lightDC, columns, rows, wavesX, wavesY);
            const [pValue, qValue] = [sum(p, pDC, 3, 3, wavesX, wavesY), sum(q, qDC, 3, 3, wavesX, wavesY)];
            const blue = l - (2 / 3) * pValue;
            const red = (3 * l - blue + qValue) / 2;
            const opacity = hasAlpha ? sum(alpha, alphaDC, 5, 5, wavesX, wavesY) : 1;
            image.data[index] = 255 * red;
            image.data[index + 1] = 255 * (red - qValue);
            image.data[index + 2] = 255 * blue;
            image.data[index + 3] = 255 * opacity;
        }
    }
    context.putImageData(image, 0, 0);
    return canvas;
}
