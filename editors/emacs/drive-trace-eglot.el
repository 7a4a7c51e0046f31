;;; drive-trace-eglot.el --- Lenses of traces in eglot  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; eglot shows no lenses.  This asks for those of a trace whenever eglot tells the server of a change,
;; or the server of one, and shows them over their lines.

;;; Code:

(require 'cl-lib)
(require 'eglot)
(require 'jsonrpc)

(defvar drive-trace-command)

(defface drive-trace-lens '((t :inherit shadow))
  "The verdict over a run."
  :group 'drive-trace)

(defvar-local drive-trace--uri nil "The trace, as the server knows it.")
(defvar-local drive-trace--asked 0 "How often lenses were asked for.")

(defun drive-trace--refresh (server buffer)
  "Ask SERVER for the lenses of BUFFER, and show them."
  (with-current-buffer buffer
    (let ((time (cl-incf drive-trace--asked)))
      (jsonrpc-async-request
       server :textDocument/codeLens `(:textDocument (:uri ,drive-trace--uri))
       :success-fn (lambda (lenses) (drive-trace--resolve server buffer time lenses))))))

(defun drive-trace--resolve (server buffer time lenses)
  "Have SERVER resolve LENSES, and show them in BUFFER unless it asked since TIME."
  (let ((missing (length lenses)) resolved)
    (cl-flet ((show () (when (and (buffer-live-p buffer)
                                  (= time (buffer-local-value 'drive-trace--asked buffer)))
                         (with-current-buffer buffer (drive-trace--draw (nreverse resolved))))))
      (when (zerop missing) (show))
      ;; A response may still arrive while Emacs exits, when the server is gone already.
      (cl-loop for lens across lenses while (jsonrpc-running-p server) do
               (jsonrpc-async-request
                server :codeLens/resolve lens
                :success-fn (lambda (lens)
                              (push lens resolved)
                              (when (zerop (cl-decf missing)) (show))))))))

(defun drive-trace--draw (lenses)
  "Show LENSES, each over its line."
  (save-restriction
    (widen)
    (remove-overlays (point-min) (point-max) 'drive-trace-lenses t)
    (dolist (lens lenses)
      (let* ((line (plist-get (plist-get (plist-get lens :range) :start) :line))
             (start (save-excursion (goto-char (point-min)) (forward-line line) (point)))
             (overlay (or (drive-trace--lens-at start) (make-overlay start start)))
             (shown (append (overlay-get overlay 'drive-trace-lens) (list lens))))
        (overlay-put overlay 'drive-trace-lenses t)
        (overlay-put overlay 'drive-trace-lens shown)
        (overlay-put overlay 'before-string (drive-trace--text shown))))))

(defun drive-trace--lens-at (start)
  "The overlay with the lenses of the line that begins at START."
  (cl-find-if (lambda (overlay) (overlay-get overlay 'drive-trace-lens))
              (overlays-in start start)))

(defun drive-trace--text (lenses)
  "The line in which LENSES are shown."
  (let ((titles (mapcar (lambda (lens) (plist-get (plist-get lens :command) :title)) lenses))
        (map (make-sparse-keymap)))
    (define-key map [mouse-1] #'drive-trace-run-lens)
    (concat (propertize (string-fill (string-join titles " | ") (drive-trace--width))
                        'face 'drive-trace-lens 'mouse-face 'highlight 'keymap map
                        'help-echo "mouse-1: show the run")
            "\n")))

(defun drive-trace--width ()
  "Columns for a lens in the window of the trace."
  (max 20 (1- (window-body-width (get-buffer-window)))))

(defun drive-trace-run-lens (&optional event)
  "Show the run whose lens is over this line, or the one that EVENT clicks on."
  (interactive (list last-nonmenu-event))
  (when (mouse-event-p event) (posn-set-point (event-start event)))
  (let* ((overlay (drive-trace--lens-at (line-beginning-position)))
         (command (plist-get (car (and overlay (overlay-get overlay 'drive-trace-lens))) :command))
         (name (plist-get command :command)))
    (when (member name '(nil "")) (user-error "No lens over this line"))
    (let ((card (jsonrpc-request (eglot-current-server) :workspace/executeCommand
                                 `(:command ,name :arguments ,(plist-get command :arguments)))))
      (when (stringp card)              ; where eglot cannot show the page
        (with-help-window "*Drive Trace*" (princ card))))))

;;;###autoload
(defun drive-trace-record ()
  "Offer the grades that can be recorded for the run at point.
No menu of code actions has them, as its first entry must not grade a run."
  (interactive)
  (eglot-code-actions (point) (point) "refactor.driveTrace.record" t))

(defclass drive-trace-eglot-server (eglot-lsp-server) ()
  :documentation "The server of traces.")

(add-to-list 'eglot-server-programs
             `(drive-trace-mode . ,(lambda (&rest _)
                                     (cons 'drive-trace-eglot-server drive-trace-command))))

(cl-defmethod eglot-client-capabilities :around ((_server drive-trace-eglot-server))
  (let ((capabilities (cl-call-next-method)))
    (cl-callf plist-put (plist-get capabilities :workspace)
      :codeLens '(:refreshSupport t))
    (cl-callf plist-put (plist-get capabilities :textDocument)
      :codeLens '(:dynamicRegistration :json-false))
    capabilities))

(cl-defmethod jsonrpc-connection-send :after
  ((server drive-trace-eglot-server) &key method params &allow-other-keys)
  (when (memq method '(:textDocument/didOpen :textDocument/didChange))
    (setq drive-trace--uri (plist-get (plist-get params :textDocument) :uri))
    (drive-trace--refresh server (current-buffer))))

(cl-defmethod eglot-handle-request
  ((server drive-trace-eglot-server) (_method (eql 'workspace/codeLens/refresh)))
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (and drive-trace--uri (eq server (eglot-current-server)))
        (drive-trace--refresh server buffer)))))

(add-hook 'eglot-managed-mode-hook
          (lambda ()
            (when (and drive-trace--uri (not (eglot-current-server)))
              (drive-trace--draw nil))))

(provide 'drive-trace-eglot)
;;; drive-trace-eglot.el ends here
