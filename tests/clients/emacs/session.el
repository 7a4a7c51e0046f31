;;; session.el --- a story, played in Emacs  -*- lexical-binding: t -*-

;; Plays the steps of a story in this Emacs and writes down what it shows, for test_sessions.py.
;; All is as docs/editors.md sets it up; the few names of its inside that are used here are those that
;; packages around it use, too.

(require 'cl-lib)
(require 'eglot)
(require 'flymake)

(defconst session-patience 20 "Seconds for anything that is waited for.")

(defvar session-server nil "The server of the trace, as eglot knows it.")
(defvar session-published nil "Whether diagnostics came since the last edit.")

;; The process is left to end by itself, and its exit code is asked for.  Without this eglot would
;; take that for a crash and start another.
(setq eglot-autoreconnect nil)

;; On a busy machine the server may need more than the three seconds after which eglot goes on
;; without it, and says so.
(setq eglot-sync-connect session-patience)

;; In batch mode nobody reads the events of file watches, and while some wait to be read, Emacs
;; runs no sentinels: eglot would not notice that the server has ended.
(advice-add 'file-notify-add-watch :override #'ignore)
(setq auto-revert-use-notify nil auto-revert-interval 0.1)

(cl-defmethod eglot-handle-notification :after
  (_server (_method (eql 'textDocument/publishDiagnostics)) &rest _)
  (setq session-published t))

(defun session-wait (condition)
  "Let processes go on until CONDITION holds or patience ends; whether it holds."
  (let ((deadline (+ (float-time) session-patience)) holds)
    (while (and (not (setq holds (funcall condition))) (< (float-time) deadline))
      (accept-process-output nil 0.05))
    holds))

(defun session-await (what condition)
  (unless (session-wait condition) (error "Still waiting for %s" what)))

(defun session-rest ()
  "Do what Emacs does when a command is over and nobody types: in batch mode it never rests."
  (run-hooks 'post-command-hook)
  (mapc #'timer-event-handler (copy-sequence timer-idle-list)))

(defun session-go-to (token)
  (goto-char (point-min))
  (search-forward token)
  (goto-char (match-beginning 0)))

(defun session-type (text)
  (setq session-published nil)
  (execute-kbd-macro (vconcat text))
  (session-rest)
  `((line . ,(buffer-substring-no-properties (line-beginning-position) (line-end-position)))))

(defun session-diagnostic (diagnostic)
  (let ((start (flymake-diagnostic-beg diagnostic)) (end (flymake-diagnostic-end diagnostic)))
    `((line . ,(line-number-at-pos start))
      (message . ,(substring-no-properties (flymake-diagnostic-text diagnostic)))
      (severity . ,(symbol-name (flymake-diagnostic-type diagnostic)))
      (text . ,(buffer-substring-no-properties start end)))))

(defun session-diagnostics () (vconcat (mapcar #'session-diagnostic (flymake-diagnostics))))

(defun session-pluck (key list) (vconcat (mapcar (lambda (each) (alist-get key each)) list)))

(defun session-lenses ()
  "What stands over lines."
  (let (found)
    (dolist (overlay (overlays-in (point-min) (point-max)))
      (when (overlay-get overlay 'drive-trace-lens)
        (let ((lines (split-string (substring-no-properties (overlay-get overlay 'before-string))
                                   "\n" t)))
          (dolist (title (split-string (string-join lines " ") " | "))
            (push `((line . ,(line-number-at-pos (overlay-start overlay))) (title . ,title))
                  found)))))
    (vconcat (sort (nreverse found)
                   (lambda (one other) (< (alist-get 'line one) (alist-get 'line other)))))))

;;; The steps

(defun session-open (file)
  (find-file file)
  (session-rest)
  (session-await "the server" #'eglot-managed-p)
  (setq session-server (eglot-current-server))
  `((mode . ,(symbol-name major-mode))))

(defun session-see-diagnostics (texts)
  ;; Overlays move with the text by themselves, so the server's word is waited for, too.
  (session-wait (lambda ()
                  (and session-published
                       (equal (session-pluck 'text (session-diagnostics)) texts))))
  `((shown . ,(session-diagnostics))))

(defun session-hover (token)
  (session-go-to token)
  (let (shown)
    (let ((eldoc-display-functions
           (list (lambda (docs _interactive) (setq shown docs)))))
      (eldoc-print-current-symbol-info t)
      (session-await "the hover" (lambda () shown)))
    `((text . ,(substring-no-properties (caar shown))))))

(defun session-see-lenses (titles)
  (session-wait (lambda () (equal (session-pluck 'title (append (session-lenses) nil)) titles)))
  `((shown . ,(session-lenses))))

(defun session-run-lens (line)
  (goto-char (point-min))
  (forward-line (1- line))
  (drive-trace-run-lens)
  `((text . ,(session-text "*Drive Trace*"))))

(defun session-definition (token)
  (let ((trace (current-buffer)))
    (session-go-to token)
    (forward-char)
    (call-interactively #'xref-find-definitions)
    (let ((file buffer-file-name))
      (switch-to-buffer trace)
      `((file . ,(file-relative-name file))))))

(defun session-append (text)
  "What somebody else writes at the end of the file."
  (write-region text nil buffer-file-name t 'silent)
  nil)

(defun session-type-before (token typed)
  (session-go-to token)
  (session-type typed))

(defun session-type-over (token typed)
  (session-go-to token)
  (delete-char (length token))
  (session-type typed))

(defun session-complete ()
  "What is offered on the empty line at the end."
  (goto-char (point-max))
  (let ((table (nth 2 (eglot-completion-at-point))))
    `((offered . ,(vconcat (mapcar #'substring-no-properties (all-completions "" table)))))))

(defun session-act (token title)
  "Pick the code action TITLE at TOKEN from the menu that eglot shows."
  (session-go-to token)
  (let ((before (buffer-chars-modified-tick))
        (last-nonmenu-event ?.)) ; a key: for the mouse there is another menu
    (setq session-published nil)
    (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) title)))
      (if (string-prefix-p "Record " title)
          (drive-trace-record)
        (eglot-code-actions (point) (point) nil t)))
    (session-await title (lambda () (> (buffer-chars-modified-tick) before))))
  (session-rest)
  `((line . ,(buffer-substring-no-properties (line-beginning-position) (line-end-position)))
    (last . ,(car (last (split-string (session-text (current-buffer)) "\n" t))))))

(defun session-save ()
  "What the file holds after it is saved."
  (save-buffer)
  (let ((file buffer-file-name))
    `((text . ,(with-temp-buffer
                 (insert-file-contents file)
                 (buffer-string))))))

;; `eglot-shutdown' kills the process right after `exit', and so never learns its exit code.
(defun session-quit ()
  (let ((process (jsonrpc--process session-server)))
    (jsonrpc-request session-server :shutdown nil)
    (jsonrpc-notify session-server :exit nil)
    ;; When eglot has let go of the trace, all that it does at a server's end is done.
    (session-await "the end of the server"
                   (lambda () (not (or (process-live-p process) (eglot-managed-p)))))
    `((code . ,(process-exit-status process))
      (signal . ,(if (eq (process-status process) 'signal) 1 0)))))

(defun session-quit-at-once () nil)

(defconst session-steps
  '(("open" . session-open)
    ("diagnostics" . session-see-diagnostics)
    ("hover" . session-hover)
    ("lenses" . session-see-lenses)
    ("run_lens" . session-run-lens)
    ("definition" . session-definition)
    ("append" . session-append)
    ("type_before" . session-type-before)
    ("type_over" . session-type-over)
    ("complete" . session-complete)
    ("act" . session-act)
    ("save" . session-save)
    ("quit" . session-quit)
    ("quit_at_once" . session-quit-at-once)))

(defun session-text (buffer)
  (with-current-buffer buffer (buffer-substring-no-properties (point-min) (point-max))))

(defun session-log (server)
  "The standard error of SERVER, without Emacs's own last line."
  (replace-regexp-in-string "\nProcess EGLOT .* stderr finished\n\\'" ""
                            (session-text (jsonrpc-stderr-buffer server))))

(defun session-play ()
  (let ((story (with-temp-buffer
                 (insert-file-contents (getenv "DRIVE_TRACE_STORY"))
                 (json-parse-buffer :array-type 'array)))
        (coding-system-for-write 'utf-8-unix)
        seen problem)
    (condition-case caught
        (mapc (lambda (step)
                (let ((play (cdr (assoc (aref step 0) session-steps))))
                  (push (apply play (cdr (append step nil))) seen)))
              story)
      (error (setq problem (error-message-string caught))))
    (let ((messages (session-text (messages-buffer)))
          (log (if session-server (session-log session-server) "")))
      (with-temp-file (getenv "DRIVE_TRACE_REPORT")
        (json-insert `((steps . ,(vconcat (nreverse seen)))
                       (messages . ,messages)
                       (log . ,log)
                       ,@(when problem `((problem . ,problem)))))))
    (kill-emacs (if problem 1 0))))

(session-play)
