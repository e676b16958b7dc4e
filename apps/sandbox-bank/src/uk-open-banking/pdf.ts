const linesPerPage = 52;
const lineHeight = 14;

/** Text of a content stream: WinAnsi bytes (ISO 8859-1 is close enough), brackets escaped. */
function escaped(text: string): string {
  return text.replace(/[\\()]/g, '\\$&').replace(/[^\u0020-\u00ff]/g, '?');
}

function pageStream(lines: readonly string[]): string {
  const shown = lines.map((line) => `(${escaped(line)}) Tj T*`).join('\n');
  return `BT /F1 9 Tf ${lineHeight} TL 48 790 Td\n${shown}\nET`;
}

/** A PDF 1.4 (ISO 32000) of text lines in Courier, A4, as many pages as it takes. */
export function toPdf(lines: readonly string[], title: string): Buffer {
  const pages: string[][] = [];
  for (let start = 0; start < Math.max(1, lines.length); start += linesPerPage)
    pages.push(lines.slice(start, start + linesPerPage));
  // Objects 1 to 4 are catalogue, page tree, font and title; then a page and its stream in turn.
  const kids = pages.map((_page, index) => `${5 + index * 2} 0 R`).join(' ');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>',
    `<< /Title (${escaped(title)}) >>`,
    ...pages.flatMap((page, index) => {
      const stream = pageStream(page);
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${6 + index * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
        `<< /Length ${Buffer.byteLength(stream, 'latin1')} >>\nstream\n${stream}\nendstream`,
      ];
    }),
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = Buffer.byteLength(text, 'latin1');
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const start = Buffer.byteLength(text, 'latin1');
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`;
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info 4 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}
