/** The list of events: in em, so that it fits the theme's font and any zoom. */
export const style = `
html,body{height:100%;padding:0;margin:0;background:var(--vscode-editor-background)}
.main{--wide:3.2em 5.6em 2.4em 12.8em minmax(7em,2fr) minmax(6em,.8fr) 9.5em minmax(9em,4fr);--soft:var(--vscode-descriptionForeground);
display:grid;height:100%;grid-template:auto auto auto minmax(0,1fr)/minmax(0,1fr) 22em;
font:var(--vscode-font-size)/1.4 var(--vscode-font-family);color:var(--vscode-editor-foreground)}
.bar{grid-column:1/-1;display:flex;flex-wrap:wrap;gap:.4em .6em;align-items:center;padding:.4em .8em}
.bar input[type=search]{flex:1 1 12em;min-width:8em}
.bar select{max-width:11em}
.bar input[type=search],.bar select{font:inherit;padding:.2em .4em;color:var(--vscode-input-foreground);background:var(--vscode-input-background);border:1px solid var(--vscode-input-border,var(--vscode-contrastBorder,currentColor));border-radius:2px}
.bar label{display:flex;align-items:center;gap:.3em}
.bar input:focus-visible,.bar select:focus-visible,.link:focus-visible,summary:focus-visible{outline:1px solid var(--vscode-focusBorder);outline-offset:1px}
.count{margin-left:auto;font-variant-numeric:tabular-nums}
.lack{grid-column:1/-1;margin:0;padding:.4em .8em;border-block:1px solid var(--vscode-editorWarning-foreground)}
.list,.head{grid-column:1;overflow:auto;scrollbar-gutter:stable}
.list{grid-row:4;position:relative}
.head{grid-row:3;overflow:hidden;font-weight:600;border-bottom:1px solid var(--vscode-panel-border,currentColor)}
.rows{position:relative}
.row{display:grid;grid-template-columns:var(--wide);gap:.6em;padding:0 .8em;box-sizing:border-box;align-items:center}
.rows .row{position:absolute;left:0;right:0;cursor:default}
.row span{overflow:hidden;white-space:nowrap;text-overflow:ellipsis}
.line,.delta,.time{font-variant-numeric:tabular-nums}
.line,.delta{text-align:right}
.rows .line,.rows .delta{color:var(--soft)}
.rows .event .event{font-weight:600}
.heading{font-weight:600;grid-template-columns:1fr;background:var(--vscode-editorWidget-background)}
.heading.level-2{padding-left:2.4em}
.mark.error,.invalid .event,.invalid .outcome{color:var(--vscode-errorForeground)}
.rows [aria-selected=true],.rows [aria-selected=true] span{color:var(--vscode-list-inactiveSelectionForeground,inherit)}
.rows [aria-selected=true]{background:var(--vscode-list-inactiveSelectionBackground);outline:1px solid var(--vscode-contrastActiveBorder,transparent);outline-offset:-1px}
.list:focus [aria-selected=true],.list:focus [aria-selected=true] span{color:var(--vscode-list-activeSelectionForeground,inherit)}
.list:focus [aria-selected=true]{background:var(--vscode-list-activeSelectionBackground)}
.list:focus-visible,.details:focus-visible{outline:1px solid var(--vscode-focusBorder);outline-offset:-1px}
.details{grid-row:3/5;grid-column:2;overflow:auto;padding:0 .9em 1em;border-left:1px solid var(--vscode-panel-border,currentColor);overflow-wrap:anywhere}
.details h2{font-size:1.1em;margin:.5em 0}
.details p{margin:.4em 0}
.finding{padding-left:.6em;border-left:3px solid var(--vscode-editorWarning-foreground)}
.finding.error{border-color:var(--vscode-errorForeground)}
.details dt{font-weight:600;margin-top:.5em}.details dd{margin:0}
.meaning{color:var(--soft)}dd .meaning{display:block}
.details code,.details pre{font-family:var(--vscode-editor-font-family);font-size:.95em}
.details code{color:inherit;background:none;padding:0}
.details pre{white-space:pre-wrap}
summary{cursor:pointer;margin-top:.8em}
.link{font:inherit;padding:0;border:0;background:none;color:var(--vscode-textLink-foreground);text-decoration:underline;cursor:pointer}
[hidden]{display:none}
@media (max-width:62em){
.main{grid-template:auto auto auto minmax(0,3fr) minmax(0,2fr)/minmax(0,1fr)}
.details{grid-row:5;grid-column:1;border-left:0;border-top:1px solid var(--vscode-panel-border,currentColor)}
}
@media (max-width:44em){
.main{--wide:3.2em 5.4em 2.4em 12.5em 7em minmax(0,1fr)}
.row .within,.row .time{display:none}
}
@media (max-width:26em){
.main{--wide:3.2em 2.4em minmax(0,1fr) 6em}
.row .delta,.row .words{display:none}
}
`;
