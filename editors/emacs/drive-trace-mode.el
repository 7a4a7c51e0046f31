;;; drive-trace-mode.el --- Traces of Drive runs  -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: languages, tools
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A major mode for the trace.jsonl files of Drive runs, and what eglot and lsp-mode need to know of
;; their server, the command `drive-trace'.  One of these starts it:
;;
;;   (add-hook 'drive-trace-mode-hook #'eglot-ensure)
;;   (add-hook 'drive-trace-mode-hook #'lsp-deferred)
;;
;; eglot shows no lenses, so drive-trace-eglot.el does: the verdict of a run over its first line.

;;; Code:

(require 'js)

(defgroup drive-trace nil
  "Traces of Drive runs."
  :group 'tools)

(defcustom drive-trace-command '("drive-trace" "serve")
  "The command that starts the server."
  :type '(repeat string))

(defconst drive-trace--envelope
  (rx (+ "\"" (or "event_id" "schema_version" "project_run_id" "orchestrator_agent_id") "\":"
         (or (seq "\"" (* (not (any "\"\\\n"))) "\"") "null") ","))
  "What stands on every line and tells little.")

(defconst drive-trace--id
  (let ((some (lambda (count) `(= ,count (any "0-9a-f")))))
    (rx-to-string `(seq ,(funcall some 8) (group "-" ,(funcall some 4) "-" ,(funcall some 4) "-"
                                                 ,(funcall some 4) "-" ,(funcall some 12)))))
  "An id, and its tail.")

(defvar lsp-language-id-configuration)
(defvar lsp-lens-backends)
(defvar lsp-lens-enable)
(defvar lsp-lens-place-position)
(defvar lsp--cur-version)

(defvar drive-trace-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-e") #'drive-trace-toggle-envelope)
    (define-key map (kbd "C-c C-l") #'drive-trace-run-lens) ; with eglot
    map))

;;;###autoload
(define-derived-mode drive-trace-mode js-mode "Drive-Trace"
  "Major mode for the traces of Drive runs, one JSON object a line."
  (setq-local truncate-lines t)
  (setq-local line-number-display-limit-width 10000)
  (electric-indent-local-mode -1)
  (setq-local font-lock-extra-managed-props '(invisible))
  (font-lock-add-keywords
   nil `((,drive-trace--envelope 0 '(face shadow invisible drive-trace) t)
         (,drive-trace--id 1 '(face nil invisible drive-trace) append)))
  (add-to-invisibility-spec '(drive-trace . t))
  (setq-local lsp-lens-enable t
              lsp-lens-place-position 'above-line
              lsp-lens-backends '(drive-trace--lsp-lenses))
  ;; An agent appends to the file.
  (setq-local auto-revert-verbose nil)
  (auto-revert-mode))

;;;###autoload
(progn
  (add-to-list 'auto-mode-alist '("/trace\\.jsonl\\'" . drive-trace-mode))
  (add-to-list 'auto-mode-alist '("/wip/drive-trace/[^/]+\\.jsonl\\'" . drive-trace-mode)))

(autoload 'drive-trace-run-lens "drive-trace-eglot" nil t)
(autoload 'drive-trace-record "drive-trace-eglot" nil t)

(defun drive-trace-toggle-envelope ()
  "Show or hide what stands on every line, and the tails of ids."
  (interactive)
  (if (member '(drive-trace . t) buffer-invisibility-spec)
      (remove-from-invisibility-spec '(drive-trace . t))
    (add-to-invisibility-spec '(drive-trace . t)))
  (force-window-update (current-buffer)))

(with-eval-after-load 'eglot
  (require 'drive-trace-eglot))

(declare-function lsp-activate-on "lsp-mode")
(declare-function lsp--buffer-uri "lsp-mode")
(declare-function lsp-register-client "lsp-mode")
(declare-function lsp-request "lsp-mode")
(declare-function lsp-request-async "lsp-mode")
(declare-function lsp-stdio-connection "lsp-mode")
(declare-function make-lsp-client "lsp-mode")

(with-eval-after-load 'lsp-mode
  (add-to-list 'lsp-language-id-configuration '(drive-trace-mode . "drive-trace"))
  (lsp-register-client
   (make-lsp-client :new-connection (lsp-stdio-connection (lambda () drive-trace-command))
                    :activation-fn (lsp-activate-on "drive-trace")
                    :server-id 'drive-trace)))

;; That of lsp-mode leaves out a lens at the very start of the window.
(defun drive-trace--lsp-lenses (modified callback)
  "Give CALLBACK the lenses of the trace if it is MODIFIED."
  (when modified
    (let ((version lsp--cur-version))
      (lsp-request-async
       "textDocument/codeLens" `(:textDocument (:uri ,(lsp--buffer-uri)))
       (lambda (lenses)
         (funcall callback
                  (mapcar (lambda (lens) (lsp-request "codeLens/resolve" lens)) lenses) version))
       :mode 'tick))))

(provide 'drive-trace-mode)
;;; drive-trace-mode.el ends here
