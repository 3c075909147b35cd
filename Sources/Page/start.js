/**
 * The beginning of the page: its texts, and then the page itself.
 *
 * @module start
 */

import { loadTexts } from "./texts.js";

loadTexts().then(() => import("./app.js"));
