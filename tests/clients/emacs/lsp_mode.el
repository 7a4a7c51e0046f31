;;; lsp_mode.el --- the lenses that lsp-mode shows of a trace  -*- lexical-binding: t -*-

;; Opens the trace that a story of one step names, and writes down what stands over its lines once
;; the workspace is read.

(package-initialize)
(require 'lsp-mode)

(setq lsp-auto-guess-root t
      lsp-enable-file-watchers nil      ; see session.el
      lsp-enable-snippet nil
      drive-trace-mode-hook '(lsp))

(defun lsp-session-lenses ()
  (delq nil (mapcar (lambda (overlay)
                      (when (overlay-get overlay 'lsp-lens)
                        (string-trim (substring-no-properties
                                      (overlay-get overlay 'before-string)))))
                    (overlays-in (point-min) (point-max)))))

(defun lsp-session-is-settled (lenses)
  (and lenses (not (seq-some (lambda (each) (string-search "not read yet" each)) lenses))))

(let ((story (with-temp-buffer
               (insert-file-contents (getenv "DRIVE_TRACE_STORY"))
               (json-parse-buffer :array-type 'array)))
      (deadline (+ (float-time) 20)))
  (find-file (aref (aref story 0) 1))
  (while (and (not (lsp-session-is-settled (lsp-session-lenses))) (< (float-time) deadline))
    (accept-process-output nil 0.05))
  (let ((lenses (vconcat (lsp-session-lenses)))
        (coding-system-for-write 'utf-8-unix))
    (with-temp-file (getenv "DRIVE_TRACE_REPORT")
      (json-insert `((steps . [,lenses]) (messages . "") (log . ""))))))
